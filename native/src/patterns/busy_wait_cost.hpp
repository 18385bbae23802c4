// What a busy wait really takes: its request rounded up to a step of the clock, plus the loop around it.
#pragma once

#include <algorithm>
#include <array>

#include "chiplog/clock.hpp"

namespace chiplog::patterns {

// The mean cost of `clock.busy_wait(delay_ns)` in nanoseconds: the median over blocks, each the mean of many waits,
// so that an interrupt in one of them doesn't count. Blocks for about 0.4 ms, or 3·delay if that is longer.
template <Clock C>
double busy_wait_cost_ns(C& clock, double delay_ns) {
  if (delay_ns <= 0.0) return 0.0;
  if constexpr (requires { clock.exact_busy_wait_ns(delay_ns); }) {
    return clock.exact_busy_wait_ns(delay_ns);
  } else {
    std::array<double, 25> means{};
    const int waits = static_cast<int>(std::clamp(20e3 / delay_ns, 1.0, 64.0));
    const auto blocks = static_cast<std::ptrdiff_t>(std::clamp(400e3 / (delay_ns * waits), 3.0, 25.0));
    for (std::ptrdiff_t block = 0; block < blocks; ++block) {
      const Ticks begin = clock.now();
      for (int i = 0; i < waits; ++i) clock.busy_wait(delay_ns);
      const Ticks end = clock.now();
      means[static_cast<std::size_t>(block)] = clock.interval_ns(begin, end) / waits;
    }
    const auto middle = means.begin() + blocks / 2;
    std::nth_element(means.begin(), middle, means.begin() + blocks);
    return *middle;
  }
}

}  // namespace chiplog::patterns
