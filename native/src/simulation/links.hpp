// Lists of operations, linked through one array: an operation is in one list at a time.
#pragma once

#include <cstddef>
#include <cstdint>

#include "simulation/huge_pages.hpp"
#include "simulation/schedule.hpp"

namespace chiplog::simulation {

class Links {
 public:
  struct List {
    std::uint32_t first = kNone;
    std::uint32_t last = kNone;
  };

  explicit Links(std::size_t operations = 0) : next_(operations, kNone) {}

  void append(List& list, std::uint32_t operation) {
    next_[operation] = kNone;
    (list.first == kNone ? list.first : next_[list.last]) = operation;
    list.last = operation;
  }

  // Must not be empty.
  std::uint32_t take_first(List& list) {
    const std::uint32_t operation = list.first;
    list.first = next_[operation];
    return operation;
  }

  [[nodiscard]] std::uint32_t& next(std::uint32_t operation) { return next_[operation]; }

 private:
  LargeVector<std::uint32_t> next_;
};

}  // namespace chiplog::simulation
