// The CPUs and NICs of all ranks: the time until which each is busy, and the operations that wait for it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "simulation/event_queue.hpp"
#include "simulation/huge_pages.hpp"
#include "simulation/lists.hpp"
#include "simulation/prefetch.hpp"
#include "simulation/schedule.hpp"
#include "simulation/time.hpp"

namespace chiplog::simulation {

class Resources {
 public:
  // A send may start `free_gaps` before its NIC is free.
  Resources(std::uint32_t ranks, const Needs& needs, Picoseconds free_gaps)
      : cpus_(needs.cpus),
        nics_(needs.nics),
        stride_(cpus_ + 2 * cpus_ * nics_),
        places_(ranks * stride_),
        free_gaps_(free_gaps) {}

  [[nodiscard]] Picoseconds& cpu(std::uint32_t rank, std::uint8_t cpu) { return at(rank, cpu).taken_until; }
  [[nodiscard]] Picoseconds& sending_nic(std::uint32_t rank, std::uint8_t nic) {
    return at(rank, cpus_ + nic).taken_until;
  }
  [[nodiscard]] Picoseconds& receiving_nic(std::uint32_t rank, std::uint8_t nic) {
    return at(rank, cpus_ + cpus_ * nics_ + nic).taken_until;
  }

  // The time at which all resources of an operation, or of an arrived message, will be free. `lead` is the time for
  // which its NIC is busy with the previous message.
  [[nodiscard]] Picoseconds free_at(const Operation& operation, Action action, Picoseconds lead = 0) {
    switch (action) {
      case Action::send:
        return std::max(cpu(operation.rank, operation.cpu), sending_nic(operation.rank, operation.nic) - free_gaps_);
      case Action::take:
        return std::max(cpu(operation.peer, operation.cpu), receiving_nic(operation.peer, operation.nic) + lead);
      default:
        return cpu(operation.rank, operation.cpu);
    }
  }

  // The line in which it waits for them. All in a line wait for the same resources, so only the first has to try.
  [[nodiscard]] List& line_of(const Operation& operation, Action action) {
    const std::size_t with_nic = operation.cpu * nics_ + operation.nic;
    switch (action) {
      case Action::send:
        return at(operation.rank, cpus_ + with_nic).line;
      case Action::take:
        return at(operation.peer, cpus_ + cpus_ * nics_ + with_nic).line;
      default:
        return at(operation.rank, operation.cpu).line;
    }
  }

  // The time at which the last CPU of each rank becomes free.
  [[nodiscard]] std::vector<Picoseconds> finish() const {
    std::vector<Picoseconds> found(places_.size() / stride_);
    for (std::size_t rank = 0; rank < found.size(); ++rank)
      for (std::size_t cpu = 0; cpu < cpus_; ++cpu)
        found[rank] = std::max(found[rank], places_[rank * stride_ + cpu].taken_until);
    return found;
  }

  void prefetch(std::uint32_t rank) const {
    simulation::prefetch(&places_[rank * stride_]);
    simulation::prefetch(&places_[rank * stride_ + 2]);
  }

 private:
  // The layout of a rank: its CPUs, then each CPU with each sending NIC, then with each receiving NIC. A NIC's time is
  // stored with the first CPU, so that the data of one CPU and one NIC are next to each other.
  struct Place {
    Picoseconds taken_until = 0;
    List line;
  };

  [[nodiscard]] Place& at(std::uint32_t rank, std::size_t place) { return places_[rank * stride_ + place]; }

  std::size_t cpus_;
  std::size_t nics_;
  std::size_t stride_;
  LargeVector<Place> places_;
  Picoseconds free_gaps_;
};

}  // namespace chiplog::simulation
