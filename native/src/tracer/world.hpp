// The ranks of the launch, while MPI is there: between MPI_Init and MPI_Finalize, and while a session is open.
#pragma once

#include <mpi.h>

namespace chiplog::tracer {

// What keeps MPI there. Any thread may call all of these.
void open_world();
void close_world();
#ifdef MPI_SESSION_NULL
void open_session(MPI_Session session);
void close_session(MPI_Session session);
#endif
[[nodiscard]] bool is_anything_open();

// All ranks of the launch in their order, for the caller to free; MPI_GROUP_NULL where MPI does not name them.
[[nodiscard]] MPI_Group launched_ranks();

}  // namespace chiplog::tracer
