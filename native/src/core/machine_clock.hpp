// The clocks of a real machine.
#pragma once

#include <cstdint>
#include <ctime>
#include <optional>
#include <string>
#include <string_view>

#include "chiplog/clock.hpp"
#include "chiplog/contract.hpp"

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

namespace chiplog {

// A pair of readings of CLOCK_MONOTONIC_RAW and the counter, and the most time that may lie between them.
struct ClockPair {
  std::uint64_t raw_ns = 0;
  std::uint64_t counter = 0;
  std::uint64_t width_ns = 0;
};

[[nodiscard]] inline std::uint64_t raw_now_ns() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC_RAW, &time);
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000U + static_cast<std::uint64_t>(time.tv_nsec);
}

// The CPU's own counter: the time stamp counter of x86, cntvct_el0 of Arm.
class CounterClock {
 public:
  using Abilities = AbilityList<ability::MeasuresFrequency>;

  // Empty, with the reason in `why_not`, if the counter is not invariant or the kernel doesn't trust it.
  // Calibrates for about 20 ms.
  static std::optional<CounterClock> make(std::string& why_not);

  // Waits until all earlier instructions are done, and no later instruction starts before it: the interval contains
  // what is between its two reads and nothing else.
  [[nodiscard]] Ticks now() const {
#if defined(__x86_64__)
    unsigned processor = 0;
    const Ticks ticks = __rdtscp(&processor);
    _mm_lfence();
    return ticks;
#elif defined(__aarch64__)
    Ticks ticks = 0;
    asm volatile("isb\n\tmrs %0, cntvct_el0\n\tisb" : "=r"(ticks) : : "memory");
    return ticks;
#else
    return 0;
#endif
  }

  [[nodiscard]] double interval_ns(Ticks begin, Ticks end) const {
    return static_cast<double>(static_cast<std::int64_t>(end - begin)) * ns_per_tick_;
  }

  // The wait starts when all earlier instructions are done.
  Ticks busy_wait(double nanoseconds) const {
    const Ticks begin = now();
    const auto ticks = static_cast<Ticks>(nanoseconds * ticks_per_ns_);
    Ticks waited = 0;
    while ((waited = unordered_now() - begin) < ticks) {
    }
    return waited;
  }

  [[nodiscard]] double resolution_ns() const { return resolution_ns_; }
  [[nodiscard]] double overhead_ns() const { return overhead_ns_; }
  [[nodiscard]] std::string_view name() const;
  [[nodiscard]] double frequency_hz() const { return ticks_per_ns_ * 1e9; }
  // The relative error: the half widths of both calibration points over the time between them.
  [[nodiscard]] double frequency_relative_error() const { return frequency_relative_error_; }
  // The frequency over all the time since the calibration.
  [[nodiscard]] double measured_frequency_hz() const;

 private:
  CounterClock() = default;

  // For loops that read the time repeatedly; a fence would only delay the last reading.
  [[nodiscard]] static Ticks unordered_now() {
#if defined(__x86_64__)
    return __rdtsc();
#elif defined(__aarch64__)
    Ticks ticks = 0;
    asm volatile("mrs %0, cntvct_el0" : "=r"(ticks) : : "memory");
    return ticks;
#else
    return 0;
#endif
  }

  static ClockPair read_pair();

  double ticks_per_ns_ = 1.0;
  double ns_per_tick_ = 1.0;
  double resolution_ns_ = 0.0;
  double overhead_ns_ = 0.0;
  double frequency_relative_error_ = 0.0;
  ClockPair first_;
};

// CLOCK_MONOTONIC_RAW, for machines without a trustworthy counter.
class RawClock {
 public:
  using Abilities = AbilityList<>;

  RawClock();

  [[nodiscard]] Ticks now() const { return raw_now_ns(); }
  [[nodiscard]] double interval_ns(Ticks begin, Ticks end) const {
    return static_cast<double>(static_cast<std::int64_t>(end - begin));
  }
  Ticks busy_wait(double nanoseconds) const {
    const Ticks begin = now();
    const auto ticks = static_cast<Ticks>(nanoseconds);
    Ticks waited = 0;
    while ((waited = now() - begin) < ticks) {
    }
    return waited;
  }
  [[nodiscard]] double resolution_ns() const { return resolution_ns_; }
  [[nodiscard]] double overhead_ns() const { return overhead_ns_; }
  [[nodiscard]] std::string_view name() const { return "monotonic-raw"; }

 private:
  double resolution_ns_ = 0.0;
  double overhead_ns_ = 0.0;
};

static_assert(ClockContract<CounterClock>::holds && ClockContract<RawClock>::holds);

}  // namespace chiplog
