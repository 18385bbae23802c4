// The numbers and members of communicators.
#pragma once

#include <mpi.h>

#include "tracer/stream.hpp"

namespace chiplog::tracer {

// What is known of a communicator; its members are written to the trace when it is seen for the first time.
[[nodiscard]] const Group& group_of(Stream& stream, MPI_Comm communicator);

// Its handle may be used again.
void forget(MPI_Comm communicator);

// MPI has ended, and may begin again.
void forget_all_communicators();

}  // namespace chiplog::tracer
