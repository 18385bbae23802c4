// The clock of calls: the CPU's counter where the kernel trusts it, else CLOCK_MONOTONIC in ns.
#pragma once

#include <cstdint>
#include <ctime>

#include "tracer/format.hpp"

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

namespace chiplog::tracer {

using Ticks = std::uint64_t;

[[nodiscard]] inline std::int64_t clock_now_ns(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return static_cast<std::int64_t>(time.tv_sec) * 1'000'000'000 + time.tv_nsec;
}

extern bool counter_is_trusted;

[[nodiscard]] inline Ticks ticks_now() {
#if defined(__x86_64__)
  if (counter_is_trusted) [[likely]]
    return __rdtsc();
#elif defined(__aarch64__)
  if (counter_is_trusted) [[likely]] {
    Ticks ticks = 0;
    asm volatile("mrs %0, cntvct_el0" : "=r"(ticks) : : "memory");
    return ticks;
  }
#endif
  return static_cast<Ticks>(clock_now_ns(CLOCK_MONOTONIC));
}

// The quickest of some readings, so that nothing came between its two clocks.
[[nodiscard]] ClockReading read_clocks();

// Of when the library was loaded: by the end of MPI_Init the counter's rate is known.
extern const ClockReading clocks_at_load;

}  // namespace chiplog::tracer
