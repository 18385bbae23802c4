// The CPUs and NICs of all ranks: until when each is taken, and who waits in line for it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "simulation/matching.hpp"
#include "simulation/schedule.hpp"
#include "simulation/time.hpp"

namespace chiplog::simulation {

class Resources {
 public:
  explicit Resources(const Schedule& schedule) {
    for (const Operation& operation : schedule.operations) {
      cpus_ = std::max<std::size_t>(cpus_, operation.cpu + 1U);
      nics_ = std::max<std::size_t>(nics_, operation.nic + 1U);
    }
    times_.resize(schedule.ranks * (cpus_ + 2 * nics_));
    lines_.resize(schedule.ranks * (cpus_ + 2 * cpus_ * nics_));
  }

  [[nodiscard]] std::size_t cpus() const { return cpus_; }
  [[nodiscard]] Picoseconds& cpu(std::uint32_t rank, std::uint8_t cpu) { return times_[time_index(rank) + cpu]; }
  [[nodiscard]] Picoseconds& sending_nic(std::uint32_t rank, std::uint8_t nic) {
    return times_[time_index(rank) + cpus_ + nic];
  }
  [[nodiscard]] Picoseconds& receiving_nic(std::uint32_t rank, std::uint8_t nic) {
    return times_[time_index(rank) + cpus_ + nics_ + nic];
  }

  // Those in one line wait for the same resources, so that only the first in line has to try.
  [[nodiscard]] Links::List& calcs(std::uint32_t rank, std::uint8_t cpu) { return lines_[line_index(rank) + cpu]; }
  [[nodiscard]] Links::List& sends(std::uint32_t rank, std::uint8_t cpu, std::uint8_t nic) {
    return lines_[line_index(rank) + cpus_ + cpu * nics_ + nic];
  }
  [[nodiscard]] Links::List& messages(std::uint32_t rank, std::uint8_t cpu, std::uint8_t nic) {
    return lines_[line_index(rank) + cpus_ + (cpus_ + cpu) * nics_ + nic];
  }

  // When each rank's last CPU becomes free.
  [[nodiscard]] std::vector<Picoseconds> finish() const {
    const std::size_t stride = cpus_ + 2 * nics_;
    std::vector<Picoseconds> found(times_.size() / stride);
    for (std::size_t rank = 0; rank < found.size(); ++rank) {
      const Picoseconds* first = times_.data() + rank * stride;
      found[rank] = *std::max_element(first, first + cpus_);
    }
    return found;
  }

 private:
  [[nodiscard]] std::size_t time_index(std::uint32_t rank) const { return rank * (cpus_ + 2 * nics_); }
  [[nodiscard]] std::size_t line_index(std::uint32_t rank) const { return rank * (cpus_ + 2 * cpus_ * nics_); }

  std::size_t cpus_ = 1;
  std::size_t nics_ = 1;
  std::vector<Picoseconds> times_;
  std::vector<Links::List> lines_;
};

}  // namespace chiplog::simulation
