// SimGrid's simulated time, for a probe that runs under SMPI: what real clocks show there means nothing.
#pragma once

#if defined(CHIPLOG_SMPI)

#include <mpi.h>
#include <time.h>

#include <cmath>
#include <cstdint>
#include <string_view>

#include "chiplog/clock.hpp"
#include "chiplog/contract.hpp"

namespace chiplog {

// Ticks are picoseconds. Reading it costs whatever --cfg=smpi/wtime says, 0 by default in chiplog's own launches.
class SimulatedClock {
 public:
  using Abilities = AbilityList<>;

  [[nodiscard]] Ticks now() const { return static_cast<Ticks>(std::llround(MPI_Wtime() * picoseconds_per_second)); }
  [[nodiscard]] double interval_ns(Ticks begin, Ticks end) const {
    return static_cast<double>(static_cast<std::int64_t>(end - begin)) * 1e-3;
  }
  [[nodiscard]] double resolution_ns() const { return 1e-3; }
  [[nodiscard]] double overhead_ns() const {
    const Ticks begin = now();
    return interval_ns(begin, now());
  }
  // A simulated sleep: a rank has its host's core for itself, so sleeping and computing are the same to the network.
  Ticks busy_wait(double nanoseconds) const {
    constexpr std::int64_t second_ns = 1'000'000'000;
    const auto whole = static_cast<std::int64_t>(std::llround(nanoseconds));
    if (whole <= 0) return 0;
    timespec duration{};
    duration.tv_sec = static_cast<time_t>(whole / second_ns);
    duration.tv_nsec = static_cast<long>(whole % second_ns);
    nanosleep(&duration, nullptr);
    return static_cast<Ticks>(whole) * picoseconds_per_ns;
  }
  [[nodiscard]] std::string_view name() const { return "virtual"; }

 private:
  static constexpr double picoseconds_per_second = 1e12;
  static constexpr Ticks picoseconds_per_ns = 1000;
};

static_assert(ClockContract<SimulatedClock>::holds);

}  // namespace chiplog

#endif
