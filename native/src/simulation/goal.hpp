// Schedules as text in the language GOAL:
//
//   num_ranks 2
//   rank 0 {
//     l1: send 1024b to 1 tag 7 cpu 0 nic 0      tag, cpu and nic are 0 where they are left out
//     l2: calc 5000                              nanoseconds
//     l2 requires l1                             l1 must have ended; with irequires it must have started
//   }
//   rank 1 {
//     recv 1024b from 0 tag 7                    a label is needed only to depend on; -1: from any rank, with any tag
//   }
//
// with comments as in C++. Source: T. Hoefler, C. Siebert, A. Lumsdaine, "Group Operation Assembly Language - a
// flexible way to express collective communication", ICPP 2009.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "simulation/schedule.hpp"

namespace chiplog::simulation {

// The text is not GOAL; what() says what was found and what is accepted.
class GoalError : public std::runtime_error {
 public:
  GoalError(std::uint64_t line, const std::string& sentence) : std::runtime_error(sentence), line_(line) {}
  [[nodiscard]] std::uint64_t line() const { return line_; }

 private:
  std::uint64_t line_;
};

struct OwnedSchedule {
  std::uint32_t ranks = 0;
  std::vector<Operation> operations;
  std::vector<Dependency> requires_end;
  std::vector<Dependency> requires_start;
  std::vector<std::uint32_t> lines;  // by operation: where it stands in the text

  [[nodiscard]] Schedule view() const { return {ranks, operations, requires_end, requires_start}; }
};

// Fills the buffer and returns the number of bytes; 0 at the end. May throw.
using ByteSource = std::function<std::size_t(std::span<char>)>;
// Consumes all bytes. May throw.
using ByteSink = std::function<void(std::span<const char>)>;

// Reads in blocks; the memory allocated is proportional to the text. Throws GoalError, and what `source` throws.
[[nodiscard]] OwnedSchedule read_goal(const ByteSource& source);
// Labels are l1, l2, … on each rank. Throws as check() does, and what `sink` throws.
void write_goal(const Schedule& schedule, const ByteSink& sink);

}  // namespace chiplog::simulation
