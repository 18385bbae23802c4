// The median of some numbers.
#pragma once

#include <algorithm>
#include <cstddef>
#include <ranges>
#include <vector>

namespace chiplog {

// For an even number of values it is the mean of the two in the middle. Reorders the values; there must be at least
// one.
template <std::ranges::random_access_range Numbers>
[[nodiscard]] double median(Numbers& numbers) {
  const auto half = static_cast<std::ptrdiff_t>(std::ranges::size(numbers) / 2);
  const auto middle = numbers.begin() + half;
  std::nth_element(numbers.begin(), middle, numbers.end());
  const auto upper = static_cast<double>(*middle);
  if (std::ranges::size(numbers) % 2 == 1) return upper;
  return 0.5 * (upper + static_cast<double>(*std::max_element(numbers.begin(), middle)));
}

// The same on a copy of the values.
[[nodiscard]] inline double median_of(std::vector<double> numbers) { return median(numbers); }

}  // namespace chiplog
