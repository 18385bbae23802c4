// A tool to preload: it calls MPI_Barrier before and after other collective operations, so that any program meets in
// many barriers, also on communicators that have just been made. Operations that do not block stay as they are:
// programs may rely on it that they do not wait for other ranks.
#include <mpi.h>

#include <cstddef>

#define TOOL [[gnu::visibility("default")]]

namespace {

bool is_usable(MPI_Comm communicator) {
  int initialised = 0;
  int finalised = 0;
  PMPI_Initialized(&initialised);
  PMPI_Finalized(&finalised);
  return communicator != MPI_COMM_NULL && initialised != 0 && finalised == 0;
}

void meet(MPI_Comm communicator) {
  if (is_usable(communicator)) MPI_Barrier(communicator);
}

template <class Operation>
int between_barriers(MPI_Comm communicator, Operation operation) {
  meet(communicator);
  const int error = operation();
  if (error == MPI_SUCCESS) meet(communicator);
  return error;
}

// The new communicator has as many barriers as it takes for the library to serve it with CHIPLOG_BARRIER_AFTER=3.
template <class Operation>
int making(MPI_Comm communicator, MPI_Comm* made, Operation operation) {
  const int error = between_barriers(communicator, operation);
  for (int barrier = 0; error == MPI_SUCCESS && made != nullptr && barrier < 4; ++barrier) meet(*made);
  return error;
}

}  // namespace

#define AROUND(NAME, PARAMETERS, ARGUMENTS)                                       \
  TOOL int MPI_##NAME PARAMETERS {                                                \
    return between_barriers(communicator, [&] { return PMPI_##NAME ARGUMENTS; }); \
  }
#define MAKING(NAME, PARAMETERS, ARGUMENTS)                                   \
  TOOL int MPI_##NAME PARAMETERS {                                            \
    return making(communicator, made, [&] { return PMPI_##NAME ARGUMENTS; }); \
  }

extern "C" {

AROUND(Bcast, (void* buffer, int count, MPI_Datatype type, int root, MPI_Comm communicator),
       (buffer, count, type, root, communicator))
AROUND(Allreduce, (const void* in, void* out, int count, MPI_Datatype type, MPI_Op op, MPI_Comm communicator),
       (in, out, count, type, op, communicator))
AROUND(Reduce, (const void* in, void* out, int count, MPI_Datatype type, MPI_Op op, int root, MPI_Comm communicator),
       (in, out, count, type, op, root, communicator))
AROUND(Scan, (const void* in, void* out, int count, MPI_Datatype type, MPI_Op op, MPI_Comm communicator),
       (in, out, count, type, op, communicator))
AROUND(Exscan, (const void* in, void* out, int count, MPI_Datatype type, MPI_Op op, MPI_Comm communicator),
       (in, out, count, type, op, communicator))
AROUND(Reduce_scatter_block,
       (const void* in, void* out, int count, MPI_Datatype type, MPI_Op op, MPI_Comm communicator),
       (in, out, count, type, op, communicator))
AROUND(Reduce_scatter,
       (const void* in, void* out, const int* counts, MPI_Datatype type, MPI_Op op, MPI_Comm communicator),
       (in, out, counts, type, op, communicator))
AROUND(Gather,
       (const void* in, int in_count, MPI_Datatype in_type, void* out, int out_count, MPI_Datatype out_type, int root,
        MPI_Comm communicator),
       (in, in_count, in_type, out, out_count, out_type, root, communicator))
AROUND(Scatter,
       (const void* in, int in_count, MPI_Datatype in_type, void* out, int out_count, MPI_Datatype out_type, int root,
        MPI_Comm communicator),
       (in, in_count, in_type, out, out_count, out_type, root, communicator))
AROUND(Allgather,
       (const void* in, int in_count, MPI_Datatype in_type, void* out, int out_count, MPI_Datatype out_type,
        MPI_Comm communicator),
       (in, in_count, in_type, out, out_count, out_type, communicator))
AROUND(Alltoall,
       (const void* in, int in_count, MPI_Datatype in_type, void* out, int out_count, MPI_Datatype out_type,
        MPI_Comm communicator),
       (in, in_count, in_type, out, out_count, out_type, communicator))
AROUND(Allgatherv,
       (const void* in, int in_count, MPI_Datatype in_type, void* out, const int* out_counts, const int* places,
        MPI_Datatype out_type, MPI_Comm communicator),
       (in, in_count, in_type, out, out_counts, places, out_type, communicator))
AROUND(Alltoallv,
       (const void* in, const int* in_counts, const int* in_places, MPI_Datatype in_type, void* out,
        const int* out_counts, const int* out_places, MPI_Datatype out_type, MPI_Comm communicator),
       (in, in_counts, in_places, in_type, out, out_counts, out_places, out_type, communicator))
AROUND(Win_create, (void* base, MPI_Aint bytes, int unit, MPI_Info info, MPI_Comm communicator, MPI_Win* window),
       (base, bytes, unit, info, communicator, window))
AROUND(Win_allocate, (MPI_Aint bytes, int unit, MPI_Info info, MPI_Comm communicator, void* base, MPI_Win* window),
       (bytes, unit, info, communicator, base, window))

MAKING(Comm_dup, (MPI_Comm communicator, MPI_Comm* made), (communicator, made))
MAKING(Comm_dup_with_info, (MPI_Comm communicator, MPI_Info info, MPI_Comm* made), (communicator, info, made))
MAKING(Comm_create, (MPI_Comm communicator, MPI_Group group, MPI_Comm* made), (communicator, group, made))
MAKING(Comm_split, (MPI_Comm communicator, int color, int key, MPI_Comm* made), (communicator, color, key, made))
MAKING(Comm_split_type, (MPI_Comm communicator, int type, int key, MPI_Info info, MPI_Comm* made),
       (communicator, type, key, info, made))
MAKING(Cart_create,
       (MPI_Comm communicator, int count, const int* ranks, const int* periods, int reorder, MPI_Comm* made),
       (communicator, count, ranks, periods, reorder, made))
MAKING(Cart_sub, (MPI_Comm communicator, const int* remain, MPI_Comm* made), (communicator, remain, made))
MAKING(Intercomm_merge, (MPI_Comm communicator, int high, MPI_Comm* made), (communicator, high, made))

// Called by the members of the group only.
TOOL int MPI_Comm_create_group(MPI_Comm communicator, MPI_Group group, int tag, MPI_Comm* made) {
  return making(MPI_COMM_NULL, made, [&] { return PMPI_Comm_create_group(communicator, group, tag, made); });
}

}  // extern "C"
