// Operations whose last requirement has been met, in the order in which they are started: by rank, then by kind, then
// by the time at which they were released.
#pragma once

#include <algorithm>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

#include "simulation/huge_pages.hpp"
#include "simulation/schedule.hpp"

namespace chiplog::simulation {

// The operations released by one event, which are few.
class ReleasedOperations {
 public:
  void add(std::uint32_t index, const Operation& operation) {
    released_.push_back({operation.rank, operation.kind, static_cast<std::uint32_t>(released_.size()), index});
  }
  [[nodiscard]] bool empty() const { return released_.empty(); }

  // Calls visit(operation, kind) for each in order, and clears the list.
  template <class Visit>
  void drain(const Visit& visit) {
    if (released_.size() > 1) std::sort(released_.begin(), released_.end());
    for (const Released& one : released_) visit(one.operation, one.kind);
    released_.clear();
  }

 private:
  struct Released {
    std::uint32_t rank;
    Kind kind;
    std::uint32_t place;  // in the order in which requirements were met
    std::uint32_t operation;
    auto operator<=>(const Released&) const = default;
  };

  std::vector<Released> released_;
};

struct ReleasedOperation {
  std::uint32_t operation : 30;
  std::uint32_t kind : 2;
};
static_assert(sizeof(ReleasedOperation) == 4 && most_operations == 1U << 30);

// The operations of all ranks for which is_released(operation) holds; there may be many, so they are sorted by
// counting.
template <class IsReleased>
LargeVector<ReleasedOperation> released_together(const Schedule& schedule, const IsReleased& is_released) {
  constexpr std::size_t kinds = 3;
  const auto key = [](const Operation& one) { return std::size_t{one.rank} * kinds + std::size_t(one.kind); };
  const auto count = static_cast<std::uint32_t>(schedule.operations.size());
  LargeVector<std::uint32_t> begins(std::size_t{schedule.ranks} * kinds + 1);
  for (std::uint32_t index = 0; index < count; ++index)
    if (is_released(index)) ++begins[key(schedule.operations[index]) + 1];
  std::partial_sum(begins.begin(), begins.end(), begins.begin());
  LargeVector<ReleasedOperation> sorted(begins.back());
  for (std::uint32_t index = 0; index < count; ++index) {
    if (!is_released(index)) continue;
    const Operation& one = schedule.operations[index];
    sorted[begins[key(one)]++] = {index & (most_operations - 1), static_cast<std::uint32_t>(one.kind) & 3U};
  }
  return sorted;
}

}  // namespace chiplog::simulation
