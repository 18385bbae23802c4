// The real duration of a busy wait. It ends at the first reading of the clock past its deadline, so it is longer than
// asked for by up to the time between two readings. How much longer depends on the delay, so that part is measured in
// each wait. The time before the first reading and after the last is the same for all waits and is measured separately.
#pragma once

#include <algorithm>
#include <array>

#include "chiplog/abilities.hpp"
#include "chiplog/clock.hpp"
#include "chiplog/median.hpp"

namespace chiplog::patterns {

// The time in nanoseconds between the first and the last reading of the clock in a wait.
template <Clock C>
double waited_ns(C& clock, Ticks waited) {
  if constexpr (offers<C, ability::WaitsExactly>) {
    return clock.exact_wait_ns(waited);
  } else {
    return clock.interval_ns(0, waited);
  }
}

// The duration of a wait in nanoseconds beyond `waited_ns`: the median over blocks, each the mean of several waits, so
// that an interrupt in one of them doesn't count. Blocks for about 0.2 ms; at once where waits are exact.
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
