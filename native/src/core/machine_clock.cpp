#include "core/machine_clock.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <fstream>
#include <numeric>
#include <vector>

#include "core/clock_step.hpp"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace chiplog {
namespace {

constexpr std::uint64_t calibration_ns = 20'000'000;
constexpr int reads_for_a_pair = 64;
constexpr std::size_t reads_for_a_step = 20'000;

#if defined(__x86_64__)
bool has_invariant_counter() {
  unsigned eax = 0;
  unsigned ebx = 0;
  unsigned ecx = 0;
  unsigned edx = 0;
  constexpr unsigned rdtscp_bit = 1U << 27U;
  constexpr unsigned invariant_bit = 1U << 8U;
  if (__get_cpuid(0x80000001U, &eax, &ebx, &ecx, &edx) == 0 || (edx & rdtscp_bit) == 0) return false;
  return __get_cpuid(0x80000007U, &eax, &ebx, &ecx, &edx) != 0 && (edx & invariant_bit) != 0;
}

constexpr std::string_view counter_name = "tsc";
// The kernel reads each of these clock sources from the time stamp counter.
constexpr std::array<std::string_view, 3> trusted_sources{"tsc", "kvm-clock", "hyperv_clocksource_tsc_page"};
#elif defined(__aarch64__)
bool has_invariant_counter() { return true; }
constexpr std::string_view counter_name = "cntvct";
constexpr std::array<std::string_view, 1> trusted_sources{"arch_sys_counter"};
#else
bool has_invariant_counter() { return false; }
constexpr std::string_view counter_name = "none";
constexpr std::array<std::string_view, 0> trusted_sources{};
#endif

std::string kernel_clock_source() {
  std::string source;
  std::ifstream("/sys/devices/system/clocksource/clocksource0/current_clocksource") >> source;
  return source.empty() ? "unknown" : source;
}

// A clock whose ticks are nanoseconds has 1 ns per tick; its step is at least one tick.
template <class Read>
double step_ticks(Read read) {
  std::vector<std::uint64_t> reads(reads_for_a_step);
  for (std::uint64_t& value : reads) value = read();
  return static_cast<double>(std::max<std::uint64_t>(clock_step(reads), 1));
}

template <class C>
double pair_of_reads_ticks(const C& clock) {
  std::vector<std::uint64_t> reads(2001);
  for (std::uint64_t& value : reads) value = clock.now();
  return median_advance(reads);
}

double frequency_between(const ClockPair& first, const ClockPair& last) {
  return static_cast<double>(last.counter - first.counter) / static_cast<double>(last.raw_ns - first.raw_ns);
}

}  // namespace

ClockPair CounterClock::read_pair() {
  ClockPair best;
  best.width_ns = ~std::uint64_t{0};
  for (int i = 0; i < reads_for_a_pair; ++i) {
    const std::uint64_t before = raw_now_ns();
    const std::uint64_t counter = unordered_now();
    const std::uint64_t after = raw_now_ns();
    if (after - before < best.width_ns) best = {before + (after - before) / 2, counter, after - before};
  }
  return best;
}

std::optional<CounterClock> CounterClock::make(std::string& why_not) {
  if (!has_invariant_counter()) {
    why_not = "this CPU (or its hypervisor) shows no invariant time stamp counter";
    return std::nullopt;
  }
  const std::string source = kernel_clock_source();
  if (std::find(trusted_sources.begin(), trusted_sources.end(), source) == trusted_sources.end()) {
    why_not = "the kernel's clock source is " + source + ", so it does not trust the CPU's counter";
    return std::nullopt;
  }
  CounterClock clock;
  clock.first_ = read_pair();
  const double step = step_ticks(unordered_now);
  clock.overhead_ns_ = pair_of_reads_ticks(clock);
  while (raw_now_ns() - clock.first_.raw_ns < calibration_ns) {
  }
  const ClockPair last = read_pair();
  clock.ticks_per_ns_ = frequency_between(clock.first_, last);
  clock.ns_per_tick_ = 1.0 / clock.ticks_per_ns_;
  clock.frequency_relative_error_ = 0.5 * static_cast<double>(clock.first_.width_ns + last.width_ns) /
                                    static_cast<double>(last.raw_ns - clock.first_.raw_ns);
  clock.resolution_ns_ = step * clock.ns_per_tick_;
  clock.overhead_ns_ *= clock.ns_per_tick_;
  return clock;
}

std::string_view CounterClock::name() const { return counter_name; }

double CounterClock::measured_frequency_hz() const { return frequency_between(first_, read_pair()) * 1e9; }

RawClock::RawClock() : resolution_ns_(step_ticks(raw_now_ns)), overhead_ns_(pair_of_reads_ticks(*this)) {}

}  // namespace chiplog
