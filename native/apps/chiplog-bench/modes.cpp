#include "modes.hpp"

#include <cstddef>

#include "clock.hpp"

namespace chiplog::bench {
namespace {

std::vector<double> longest(const std::vector<double>& mine, MPI_Comm world) {
  std::vector<double> found(mine.size());
  PMPI_Reduce(mine.data(), found.data(), static_cast<int>(mine.size()), MPI_DOUBLE, MPI_MAX, 0, world);
  return found;
}

std::vector<Sample> valid_samples(const std::vector<double>& nanoseconds) {
  std::vector<Sample> found;
  for (const double one : nanoseconds) found.push_back({one * 1e-9, true});
  return found;
}

}  // namespace

std::vector<Sample> start_windows(const Timed& timed, const ClockModel& clock, int samples, double lead_ns) {
  std::vector<double> late;
  std::vector<double> took;
  for (int i = 0; i < samples; ++i) {
    const double ready = clock.global_ns(now_ns());
    double start = 0;
    PMPI_Allreduce(&ready, &start, 1, MPI_DOUBLE, MPI_MAX, timed.meet);
    start += lead_ns;
    const double local = now_ns();
    const double left = start - clock.global_ns(local);
    wait_until(local + left);
    timed.call(timed.buffers, timed.world);
    took.push_back(clock.global_ns(now_ns()) - start);
    late.push_back(left < 0 ? 1 : 0);
  }
  const std::vector<double> any_late = longest(late, timed.meet);
  std::vector<Sample> found = valid_samples(longest(took, timed.meet));
  for (std::size_t i = 0; i < found.size(); ++i) found[i].valid = any_late[i] == 0;
  return found;
}

std::vector<Sample> after_barriers(const Timed& timed, int samples) {
  std::vector<double> took;
  for (int i = 0; i < samples; ++i) {
    PMPI_Barrier(timed.meet);
    const double begin = now_ns();
    timed.call(timed.buffers, timed.world);
    took.push_back(now_ns() - begin);
  }
  return valid_samples(longest(took, timed.meet));
}

std::vector<Sample> rounds(const Timed& timed, int samples, int calls) {
  std::vector<double> took;
  for (int i = 0; i < samples; ++i) {
    PMPI_Barrier(timed.meet);
    const double begin = now_ns();
    for (int call = 0; call < calls; ++call) timed.call(timed.buffers, timed.world);
    took.push_back((now_ns() - begin) / calls);
  }
  return valid_samples(longest(took, timed.meet));
}

}  // namespace chiplog::bench
