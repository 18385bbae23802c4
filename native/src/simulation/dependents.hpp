// The operations that wait for each operation: the dependencies of a schedule, reversed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "simulation/huge_pages.hpp"
#include "simulation/schedule.hpp"

namespace chiplog::simulation {

class Dependents {
 public:
  // The dependents of an operation are in the order of the schedule.
  Dependents(std::span<const Dependency> dependencies, std::size_t operations);

  [[nodiscard]] bool empty() const { return dependents_.empty(); }
  [[nodiscard]] std::span<const std::uint32_t> of(std::uint32_t operation) const {
    return {dependents_.data() + begin_[operation], dependents_.data() + begin_[operation + 1]};
  }

 private:
  LargeVector<std::uint32_t> begin_;
  LargeVector<std::uint32_t> dependents_;
};

}  // namespace chiplog::simulation
