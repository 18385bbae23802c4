#include "synchronise.hpp"

#include <cmath>
#include <limits>
#include <vector>

#include "clock.hpp"

namespace chiplog::bench {
namespace {

constexpr int tag = 1;

struct Offset {
  OffsetPoint point;
  double round_trip_ns = std::numeric_limits<double>::infinity();
};

// The teacher's part: answers each message with its global time.
void teach(MPI_Comm world, int pupil, const ClockModel& clock, int exchanges) {
  for (int i = 0; i < exchanges; ++i) {
    double asked = 0;
    PMPI_Recv(&asked, 1, MPI_DOUBLE, pupil, tag, world, MPI_STATUS_IGNORE);
    const double global = clock.global_ns(now_ns());
    PMPI_Send(&global, 1, MPI_DOUBLE, pupil, tag, world);
  }
}

// The pupil's part, as in SKaMPI: of several ping-pongs the shortest, in whose middle the teacher read its clock. Both
// messages have the same size: a larger one back would shift the middle.
Offset learn(MPI_Comm world, int teacher, int exchanges) {
  Offset best;
  for (int i = 0; i < exchanges; ++i) {
    const double ask = 0;
    double global = 0;
    const double sent = now_ns();
    PMPI_Send(&ask, 1, MPI_DOUBLE, teacher, tag, world);
    PMPI_Recv(&global, 1, MPI_DOUBLE, teacher, tag, world, MPI_STATUS_IGNORE);
    const double back = now_ns();
    if (back - sent < best.round_trip_ns) {
      const double middle = sent + (back - sent) / 2;
      best = {{middle, global - middle}, back - sent};
    }
  }
  return best;
}

// Points whose shortest round trip is not much longer than the shortest of all: in the others a rank lost its core.
std::vector<OffsetPoint> undisturbed(const std::vector<Offset>& all, double shortest_ns) {
  constexpr double much_longer = 1.5;
  std::vector<OffsetPoint> found;
  for (const Offset& one : all) {
    if (one.round_trip_ns <= much_longer * shortest_ns) found.push_back(one.point);
  }
  return found;
}

Synchronised learn_model(MPI_Comm world, int teacher, const SyncOptions& options) {
  std::vector<Offset> points;
  Synchronised found;
  found.shortest_round_trip_ns = std::numeric_limits<double>::infinity();
  const double first = now_ns();
  for (int i = 0; i < options.points; ++i) {
    const double due = first + options.span_ns * i / options.points;
    sleep_ns(due - now_ns());
    const Offset one = learn(world, teacher, options.exchanges);
    points.push_back(one);
    if (one.round_trip_ns < found.shortest_round_trip_ns) found.shortest_round_trip_ns = one.round_trip_ns;
  }
  found.clock = fit_clock(undisturbed(points, found.shortest_round_trip_ns));
  return found;
}

}  // namespace

Synchronised synchronise(MPI_Comm world, const SyncOptions& options) {
  int rank = 0;
  int ranks = 0;
  PMPI_Comm_rank(world, &rank);
  PMPI_Comm_size(world, &ranks);
  Synchronised mine;
  int distance = 1;
  while (distance < ranks) distance *= 2;
  for (distance /= 2; distance >= 1; distance /= 2) {
    const int place = rank % (2 * distance);
    if (place == 0 && rank + distance < ranks) {
      for (int i = 0; i < options.points; ++i) teach(world, rank + distance, mine.clock, options.exchanges);
    }
    if (place == distance) mine = learn_model(world, rank - distance, options);
  }
  return mine;
}

Check check_against_root(MPI_Comm world, const ClockModel& clock, int exchanges) {
  int rank = 0;
  int ranks = 0;
  PMPI_Comm_rank(world, &rank);
  PMPI_Comm_size(world, &ranks);
  if (rank != 0) {
    const Offset one = learn(world, 0, exchanges);
    const double local = one.point.local_ns;
    return {clock.global_ns(local) - (local + one.point.offset_ns), one.round_trip_ns};
  }
  for (int other = 1; other < ranks; ++other) teach(world, other, clock, exchanges);
  return {};
}

Synchronised synchronise_undisturbed(MPI_Comm world, const SyncOptions& options) {
  constexpr int attempts = 4;
  Synchronised mine;
  for (int attempt = 0; attempt < attempts; ++attempt) {
    mine = synchronise(world, options);
    const Check check = check_against_root(world, mine.clock, options.exchanges);
    const int disturbed = std::abs(check.off_ns) > check.round_trip_ns ? 1 : 0;
    int any = 0;
    PMPI_Allreduce(&disturbed, &any, 1, MPI_INT, MPI_MAX, world);
    if (any == 0) break;
  }
  return mine;
}

}  // namespace chiplog::bench
