#include "tracer/ticks.hpp"

#include <array>
#include <fstream>
#include <string>
#include <string_view>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace chiplog::tracer {
namespace {

bool counts_evenly() {
#if defined(__x86_64__)
  unsigned eax = 0;
  unsigned ebx = 0;
  unsigned ecx = 0;
  unsigned edx = 0;
  constexpr unsigned invariant_bit = 1U << 8U;
  return __get_cpuid(0x80000007U, &eax, &ebx, &ecx, &edx) != 0 && (edx & invariant_bit) != 0;
#else
  return true;
#endif
}

bool kernel_trusts_counter() {
  constexpr std::array<std::string_view, 4> trusted{"tsc", "kvm-clock", "hyperv_clocksource_tsc_page",
                                                    "arch_sys_counter"};
  std::string source;
  std::ifstream("/sys/devices/system/clocksource/clocksource0/current_clocksource") >> source;
  for (const std::string_view name : trusted) {
    if (source == name) return true;
  }
  return false;
}

}  // namespace

bool counter_is_trusted = counts_evenly() && kernel_trusts_counter();

ClockReading read_clocks() {
  constexpr int tries = 8;
  ClockReading best{};
  Ticks shortest = ~Ticks{0};
  for (int i = 0; i < tries; ++i) {
    const Ticks before = ticks_now();
    const std::int64_t now_ns = clock_now_ns(CLOCK_MONOTONIC);
    const Ticks took = ticks_now() - before;
    if (took >= shortest) continue;
    shortest = took;
    best = {before + took / 2, now_ns};
  }
  return best;
}

const ClockReading clocks_at_load = read_clocks();

}  // namespace chiplog::tracer
