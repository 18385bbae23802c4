// A schedule: what each rank sends, receives and computes, and what has to wait for what.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

namespace chiplog::simulation {

// In the order in which a rank starts operations that became ready together.
enum class Kind : std::uint8_t { send, receive, calc };

// A receive's peer or tag that matches every message's.
inline constexpr std::uint32_t kAny = std::numeric_limits<std::uint32_t>::max();
// No operation has this index.
inline constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();

// Of a schedule, so that all that is known of an event fits into 16 bytes.
inline constexpr std::uint32_t kMostOperations = std::uint32_t{1} << 30;

// The layout is shared with NumPy (chiplog.schedule.arrays.OPERATION).
struct Operation {
  std::uint64_t amount;  // bytes of a message, nanoseconds of a calc
  std::uint32_t rank;
  std::uint32_t peer;  // of a message; 0 for a calc
  std::uint32_t tag;   // of a message; 0 for a calc
  Kind kind;
  std::uint8_t cpu;
  std::uint8_t nic;
  std::uint8_t unused;
};
static_assert(sizeof(Operation) == 24);

// Both are indices of operations of one rank.
struct Dependency {
  std::uint32_t operation;
  std::uint32_t on;
};
static_assert(sizeof(Dependency) == 8);

// Views of arrays that somebody else keeps alive. Operations of one rank stand in its order; ranks may interleave.
struct Schedule {
  std::uint32_t ranks = 0;
  std::span<const Operation> operations;
  std::span<const Dependency> requires_end;    // `operation` may start when `on` has ended
  std::span<const Dependency> requires_start;  // `operation` may start when `on` has started
};

// What a rank needs for its operations.
struct Needs {
  std::size_t cpus = 1;
  std::size_t nics = 1;
  bool wildcards = false;  // some receive leaves its source or its tag open
};

// Throws std::invalid_argument unless every rank, peer, kind and dependency is within its range.
Needs check(const Schedule& schedule);

}  // namespace chiplog::simulation
