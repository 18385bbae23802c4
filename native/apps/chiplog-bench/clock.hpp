// The local clock and how to wait by it; under SMPI both are simulated.
#pragma once

#include <mpi.h>
#include <sched.h>
#include <time.h>

#include <cstdint>

namespace chiplog::bench {

inline double now_ns() {
#if defined(CHIPLOG_SMPI)
  return MPI_Wtime() * 1e9;
#else
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<double>(now.tv_sec) * 1e9 + static_cast<double>(now.tv_nsec);
#endif
}

inline void sleep_ns(double nanoseconds) {
  if (nanoseconds < 1) return;
  const auto whole = static_cast<std::int64_t>(nanoseconds);
  timespec duration{};
  duration.tv_sec = static_cast<time_t>(whole / 1'000'000'000);
  duration.tv_nsec = static_cast<long>(whole % 1'000'000'000);
  nanosleep(&duration, nullptr);
}

// Returns at `local_ns`, or at once where that has passed. Spins at the end; gives the core away while there is time.
inline void wait_until(double local_ns) {
#if defined(CHIPLOG_SMPI)
  sleep_ns(local_ns - now_ns());
#else
  constexpr double time_enough_ns = 50'000;
  double left = local_ns - now_ns();
  while (left > 0) {
    if (left > time_enough_ns) sched_yield();
    left = local_ns - now_ns();
  }
#endif
}

}  // namespace chiplog::bench
