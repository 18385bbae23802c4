// What the time of a simulation is made of: the chain of events that decided it, and how often each cost is in it.
//
// A start is decided by one event before it: the operation that had the CPU or the NIC, the message that arrived, or
// what the operation requires. From the last event back, the costs between are the whole time, so their counts are the
// slopes of the time in each cost, as far as the order of events stays the same. Of several events at the same time one
// is taken.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "simulation/costs.hpp"
#include "simulation/huge_pages.hpp"
#include "simulation/schedule.hpp"
#include "simulation/time.hpp"

namespace chiplog::simulation {

// One of the two times at which an operation occupies a CPU: a message does so at both of its ends.
struct Moment {
  std::uint32_t operation = 0;
  bool at_receiver = false;
};

// What of a moment's costs passes until what it decides.
enum class Passing : std::uint32_t { nothing, cpu, nic, arrival };

// A moment and what passes after it, in 4 bytes.
class Cause {
 public:
  Cause() = default;
  Cause(Moment moment, Passing passing)
      : packed_(moment.operation << 3U | (moment.at_receiver ? 4U : 0U) | static_cast<std::uint32_t>(passing)) {}

  [[nodiscard]] bool is_start() const { return packed_ == nobody; }  // of the simulation
  [[nodiscard]] Moment moment() const { return {packed_ >> 3U, (packed_ & 4U) != 0}; }
  [[nodiscard]] Passing passing() const { return static_cast<Passing>(packed_ & 3U); }

 private:
  static constexpr std::uint32_t nobody = std::numeric_limits<std::uint32_t>::max();

  std::uint32_t packed_ = nobody;
};
static_assert(sizeof(Cause) == 4);

// The largest number of operations whose causes fit.
inline constexpr std::size_t most_followed = std::size_t{1} << 29;

// Of a line: how many of its starts, and of its times a further byte, are in a time.
struct LineCounts {
  std::int64_t starts = 0;
  std::int64_t further_bytes = 0;
};

// A step of the path: the moment at which it begins.
struct PathStep {
  Picoseconds start = 0;
  std::uint32_t operation = 0;
  std::uint32_t at_receiver = 0;
};
static_assert(sizeof(PathStep) == 16);

// The time of a simulation: computing, plus each line of the costs as often as it is counted.
struct CriticalPath {
  Picoseconds computing = 0;
  LineCounts send;
  LineCounts nic;
  LineCounts receive;
  LineCounts one_way;
  std::vector<PathStep> steps;  // in the order of time
};

// Notes the causes while a simulation runs, and walks back at its end. It takes 8 bytes an operation.
class FollowedCauses {
 public:
  // Throws std::invalid_argument for more than most_followed operations.
  FollowedCauses(const Schedule& schedule, const Needs& needs);

  // Who had the CPU, or the NIC, last.
  [[nodiscard]] Cause& cpu(std::uint32_t rank, std::uint8_t cpu) { return cpus_[rank * needs_.cpus + cpu]; }
  [[nodiscard]] Cause& sending_nic(std::uint32_t rank, std::uint8_t nic) { return sending_[rank * needs_.nics + nic]; }
  [[nodiscard]] Cause& receiving_nic(std::uint32_t rank, std::uint8_t nic) {
    return receiving_[rank * needs_.nics + nic];
  }
  // What an operation waited for; kept for several CPUs only.
  [[nodiscard]] Cause& requirement(std::uint32_t operation) { return requirements_[operation]; }
  // What decided when it began, and, of a send, when its message was taken.
  [[nodiscard]] Cause& of(Moment moment) { return causes_[2 * std::size_t{moment.operation} + moment.at_receiver]; }

  // The path whose last moment is that of `last`, which is over at `finish`. A cost that another line bounds counts as
  // that line.
  [[nodiscard]] CriticalPath walk_back(Cause last, Picoseconds finish, PairCosts& costs);

 private:
  std::span<const Operation> operations_;
  Needs needs_;
  std::vector<Cause> cpus_;
  std::vector<Cause> sending_;
  std::vector<Cause> receiving_;
  LargeVector<Cause> requirements_;
  LargeVector<Cause> causes_;
};

}  // namespace chiplog::simulation
