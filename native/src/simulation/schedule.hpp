// A schedule: the sends, receives and computations of each rank, and the dependencies between them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

namespace chiplog::simulation {

// The values are in the order in which a rank starts operations that became ready at the same time.
enum class Kind : std::uint8_t { send, receive, calc };

// As peer or tag of a receive it matches every message.
inline constexpr std::uint32_t wildcard = std::numeric_limits<std::uint32_t>::max();
// No operation has this index.
inline constexpr std::uint32_t no_operation = std::numeric_limits<std::uint32_t>::max();

// The largest number of operations of a schedule, so that an event fits into 16 bytes.
inline constexpr std::uint32_t most_operations = std::uint32_t{1} << 30;

// The layout is shared with NumPy (chiplog.schedule.arrays.OPERATION).
struct Operation {
  std::uint64_t amount;  // bytes of a message, nanoseconds of a calc
  std::uint32_t rank;
  std::uint32_t peer;  // of a message; 0 for a calc
  std::uint32_t tag;   // of a message; 0 for a calc
  Kind kind;
  std::uint8_t cpu;
  std::uint8_t nic;
  std::uint8_t traffic;  // which of Parameters::protocols_of_traffic a send's message has; 0 for others
};
static_assert(sizeof(Operation) == 24);

// Both are indices of operations of one rank.
struct Dependency {
  std::uint32_t operation;
  std::uint32_t on;
};
static_assert(sizeof(Dependency) == 8);

// Views of arrays that the caller keeps alive. Operations of one rank are in its order; ranks may interleave.
struct Schedule {
  std::uint32_t ranks = 0;
  std::span<const Operation> operations;
  std::span<const Dependency> requires_end;    // `operation` may start when `on` has ended
  std::span<const Dependency> requires_start;  // `operation` may start when `on` has started
};

// The numbers of CPUs and NICs that a rank uses.
struct Needs {
  std::size_t cpus = 1;
  std::size_t nics = 1;
  bool wildcards = false;  // some receive leaves its source or its tag open
};

// Throws std::invalid_argument unless every rank, peer, kind and dependency is within its range.
Needs check(const Schedule& schedule);

}  // namespace chiplog::simulation
