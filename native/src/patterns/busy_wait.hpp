// What a busy wait really takes. It ends at the first look at the clock past its deadline, so it is longer than asked
// by up to the time from one look to the next, and how much longer depends on the delay: that part is seen in each
// wait, as it happens. What comes before the first look and after the last is the same for all waits, and is measured
// apart.
#pragma once

#include <algorithm>
#include <array>

#include "chiplog/abilities.hpp"
#include "chiplog/clock.hpp"
#include "chiplog/median.hpp"

namespace chiplog::patterns {

// The time in nanoseconds between the first look of a wait at the clock and its last.
template <Clock C>
double waited_ns(C& clock, Ticks waited) {
  if constexpr (offers<C, ability::WaitsExactly>) {
    return clock.exact_wait_ns(waited);
  } else {
    return clock.interval_ns(0, waited);
  }
}

// What a wait takes in nanoseconds beyond `waited_ns`: the median over blocks, each the mean of several waits, so that
// an interrupt in one of them doesn't count. Blocks for about 0.2 ms; at once where waits are exact.
template <Clock C>
double busy_wait_overhead_ns(C& clock) {
  if constexpr (offers<C, ability::WaitsExactly>) {
    return 0.0;
  } else {
    constexpr double delay_ns = 500.0;
    constexpr int waits = 16;
    std::array<double, 25> means{};
    for (double& mean : means) {
      Ticks waited = 0;
      const Ticks begin = clock.now();
      for (int i = 0; i < waits; ++i) waited += clock.busy_wait(delay_ns);
      const Ticks end = clock.now();
      mean = (clock.interval_ns(begin, end) - waited_ns(clock, waited)) / waits;
    }
    return std::max(median(means), 0.0);
  }
}

}  // namespace chiplog::patterns
