#include "core/clock_step.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

#include "chiplog/median.hpp"

namespace chiplog {
namespace {

std::vector<std::uint64_t> advances(std::span<const std::uint64_t> reads) {
  std::vector<std::uint64_t> all;
  for (std::size_t i = 1; i < reads.size(); ++i) all.push_back(reads[i] - reads[i - 1]);
  return all;
}

// A step of 25 ticks that a hypervisor scales may appear as 24 or 26; deviations up to an eighth of the step are
// accepted.
bool is_near_multiple(std::uint64_t advance, std::uint64_t step) {
  const std::uint64_t remainder = advance % step;
  return std::min(remainder, step - remainder) * 8 <= step;
}

}  // namespace

std::uint64_t clock_step(std::span<const std::uint64_t> reads) {
  std::vector<std::uint64_t> positive = advances(reads);
  std::erase(positive, std::uint64_t{0});
  if (positive.empty()) return 0;
  const std::uint64_t smallest = *std::min_element(positive.begin(), positive.end());
  const auto near = std::count_if(positive.begin(), positive.end(),
                                  [&](std::uint64_t advance) { return is_near_multiple(advance, smallest); });
  if (static_cast<double>(near) >= 0.95 * static_cast<double>(positive.size())) return smallest;
  return std::accumulate(positive.begin(), positive.end(), std::uint64_t{0},
                         [](std::uint64_t a, std::uint64_t b) { return std::gcd(a, b); });
}

double median_advance(std::span<const std::uint64_t> reads) {
  std::vector<std::uint64_t> all = advances(reads);
  if (all.empty()) return 0.0;
  return median(all);
}

}  // namespace chiplog
