// Operations whose last requirement has been met by one event, in the order in which they take their turn.
#pragma once

#include <algorithm>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>

#include "simulation/huge_pages.hpp"
#include "simulation/schedule.hpp"

namespace chiplog::simulation {

struct Released {
  std::uint32_t rank;
  Kind kind;
  std::uint32_t place;  // in the order in which requirements were met
  std::uint32_t operation;
  auto operator<=>(const Released&) const = default;
};

class ReleasedOperations {
 public:
  explicit ReleasedOperations(std::uint32_t ranks) : ranks_(ranks) {}

  void reserve(std::size_t operations) { released_.reserve(operations); }
  void add(std::uint32_t index, const Operation& operation) {
    released_.push_back({operation.rank, operation.kind, static_cast<std::uint32_t>(released_.size()), index});
  }
  [[nodiscard]] bool empty() const { return released_.empty(); }
  void clear() { released_.clear(); }

  // By rank, then kind, then as they were added; valid until the next call.
  [[nodiscard]] std::span<const Released> sorted() {
    if (released_.size() >= std::max(kMany, ranks_)) {
      sort_by_counting();
    } else if (released_.size() > 1) {
      std::sort(released_.begin(), released_.end());
    }
    return released_;
  }

 private:
  static constexpr std::size_t kKinds = 3;
  static constexpr std::uint32_t kMany = 1000;

  // Cheaper than comparing where there are many.
  void sort_by_counting() {
    const auto key = [](const Released& one) { return std::size_t{one.rank} * kKinds + std::size_t(one.kind); };
    LargeVector<std::uint32_t> begins(std::size_t{ranks_} * kKinds + 1);
    for (const Released& one : released_) ++begins[key(one) + 1];
    std::partial_sum(begins.begin(), begins.end(), begins.begin());
    LargeVector<Released> sorted(released_.size());
    for (const Released& one : released_) sorted[begins[key(one)]++] = one;
    released_.swap(sorted);
  }

  std::uint32_t ranks_;
  LargeVector<Released> released_;
};

}  // namespace chiplog::simulation
