// A global clock for all ranks of a communicator: that of rank 0.
#pragma once

#include <mpi.h>

#include "clock_model.hpp"
#include "sync_options.hpp"

namespace chiplog::bench {

struct Synchronised {
  ClockModel clock;
  double shortest_round_trip_ns = 0;  // half of it bounds the error of an offset
};

// Collective. Learns every rank's model through a tree: who knows the global time already teaches a rank further on.
Synchronised synchronise(MPI_Comm world, const SyncOptions& options);

// Collective. As above, and again where a check finds shorter ways than the clocks were learnt by: a rank had lost its
// core then.
Synchronised synchronise_undisturbed(MPI_Comm world, const SyncOptions& options);

struct Check {
  double off_ns = 0;         // of the calling rank's global clock to rank 0's
  double round_trip_ns = 0;  // of the shortest ping-pong
};

// Collective.
Check check_against_root(MPI_Comm world, const ClockModel& clock, int exchanges);

}  // namespace chiplog::bench
