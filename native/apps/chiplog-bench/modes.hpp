// Three ways to time a collective operation, of which start windows are the one to believe.
#pragma once

#include <mpi.h>

#include <vector>

#include "clock_model.hpp"
#include "operations.hpp"

namespace chiplog::bench {

struct Sample {
  double seconds = 0;
  bool valid = true;
};

struct Timed {
  Call call;
  Buffers& buffers;
  MPI_Comm world;
  MPI_Comm meet = world;  // on which its ranks agree on starts and collect times
};

// All of these are collective; the samples are complete on rank 0 only.

// All ranks begin at one time of the global clock, agreed on anew for every sample: `lead_ns` after the last of them
// was ready. A sample lasts from there until the last rank is out; it is invalid where a rank heard of the start too
// late.
std::vector<Sample> start_windows(const Timed& timed, const ClockModel& clock, int samples, double lead_ns);

// The MPI's barrier before every sample; the longest of the ranks' own times.
std::vector<Sample> after_barriers(const Timed& timed, int samples);

// `calls` in a row for each sample; the longest of the ranks' own times, over `calls`.
std::vector<Sample> rounds(const Timed& timed, int samples, int calls);

}  // namespace chiplog::bench
