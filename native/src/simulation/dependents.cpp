#include "simulation/dependents.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <stdexcept>

namespace chiplog::simulation {

Dependents::Dependents(std::span<const Dependency> dependencies, std::size_t operations) {
  if (dependencies.size() > std::numeric_limits<std::uint32_t>::max())
    throw std::invalid_argument("a schedule holds up to 2^32 - 1 dependencies");
  if (dependencies.empty()) return;
  // While the lists are filled, begin_[k + 1] is where operation k's dependents begin; afterwards it is where they end.
  begin_.resize(operations + 2);
  for (const Dependency& one : dependencies) ++begin_[one.on + 2];
  std::partial_sum(begin_.begin(), begin_.end(), begin_.begin());
  dependents_.resize(dependencies.size());
  for (const Dependency& one : dependencies) dependents_[begin_[one.on + 1]++] = one.operation;
  for (std::size_t operation = 0; operation < operations; ++operation) {
    const auto first = dependents_.begin() + begin_[operation];
    const auto last = dependents_.begin() + begin_[operation + 1];
    if (!std::is_sorted(first, last)) std::sort(first, last);
  }
}

}  // namespace chiplog::simulation
