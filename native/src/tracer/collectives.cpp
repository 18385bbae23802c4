// Collective operations: blocking, non-blocking and persistent ones. Bytes are those that the arguments name, the
// rank's own block with them.
#include <dlfcn.h>

#include "tracer/describe.hpp"

namespace chiplog::tracer {
namespace {

// MPI_IN_PLACE of Fortran is an address of its own.
bool is_in_place(const void* buffer) {
  static const void* const of_open_mpi = dlsym(RTLD_DEFAULT, "mpi_fortran_in_place_");
  static const auto* const of_mpich = static_cast<void* const*>(dlsym(RTLD_DEFAULT, "MPIR_F_MPI_IN_PLACE"));
  if (buffer == MPI_IN_PLACE) return true;
  if (buffer == nullptr) return false;
  return buffer == of_open_mpi || (of_mpich != nullptr && buffer == *of_mpich);
}

struct Bytes {
  Described& call;
  std::uint64_t operator()(auto count, MPI_Datatype type) const {
    return call.stream.bytes_of(static_cast<std::int64_t>(count), type);
  }
  std::uint64_t sum(const auto* counts, MPI_Datatype type, int ranks) const {
    std::int64_t all = 0;
    for (int i = 0; i < ranks && type != MPI_DATATYPE_NULL; ++i) all += static_cast<std::int64_t>(counts[i]);
    return (*this)(all, type);
  }
  std::uint64_t sum(const auto* counts, const MPI_Datatype* types, int ranks) const {
    std::uint64_t all = 0;
    for (int i = 0; types != nullptr && i < ranks; ++i) all += (*this)(counts[i], types[i]);
    return all;
  }
};

// Sets the root as peer. Of an intercommunicator it may be MPI_ROOT or MPI_PROC_NULL.
bool is_root(Described& call, const Group& group, int root) {
  call.peer = root >= 0 ? root : nobody;
  return root == MPI_ROOT || group.rank == root;
}

struct Barrier {
  static void after(Described& call, MPI_Comm comm) { call.in(comm); }
};
struct Bcast {
  static void after(Described& call, const void*, auto count, MPI_Datatype type, int root, MPI_Comm comm) {
    const bool gives = is_root(call, call.in(comm), root);
    (gives ? call.sent_bytes : call.received_bytes) = Bytes{call}(count, type);
  }
};
struct Gather {
  static void after(Described& call, const void* from, auto count, MPI_Datatype type, void*, auto block,
                    MPI_Datatype block_type, int root, MPI_Comm comm) {
    const Group& group = call.in(comm);
    const bool gets = is_root(call, group, root);
    call.sent_bytes = is_in_place(from) ? Bytes{call}(block, block_type) : Bytes{call}(count, type);
    if (gets) call.received_bytes = Bytes{call}(block, block_type) * static_cast<unsigned>(group.ranks);
  }
};
struct Gatherv {
  static void after(Described& call, const void* from, auto count, MPI_Datatype type, void*, const auto* counts,
                    const auto*, MPI_Datatype block_type, int root, MPI_Comm comm) {
    const Group& group = call.in(comm);
    const bool gets = is_root(call, group, root);
    const bool is_there = is_in_place(from);
    if (!is_there) call.sent_bytes = Bytes{call}(count, type);
    if (gets && is_there) call.sent_bytes = Bytes{call}(counts[group.rank], block_type);
    if (gets) call.received_bytes = Bytes{call}.sum(counts, block_type, group.ranks);
  }
};
struct Scatter {
  static void after(Described& call, const void*, auto block, MPI_Datatype block_type, void* into, auto count,
                    MPI_Datatype type, int root, MPI_Comm comm) {
    const Group& group = call.in(comm);
    const bool gives = is_root(call, group, root);
    call.received_bytes = is_in_place(into) ? Bytes{call}(block, block_type) : Bytes{call}(count, type);
    if (gives) call.sent_bytes = Bytes{call}(block, block_type) * static_cast<unsigned>(group.ranks);
  }
};
struct Scatterv {
  static void after(Described& call, const void*, const auto* counts, const auto*, MPI_Datatype block_type, void* into,
                    auto count, MPI_Datatype type, int root, MPI_Comm comm) {
    const Group& group = call.in(comm);
    const bool gives = is_root(call, group, root);
    const bool is_there = is_in_place(into);
    if (!is_there) call.received_bytes = Bytes{call}(count, type);
    if (gives && is_there) call.received_bytes = Bytes{call}(counts[group.rank], block_type);
    if (gives) call.sent_bytes = Bytes{call}.sum(counts, block_type, group.ranks);
  }
};
struct Allgather {
  static void after(Described& call, const void* from, auto count, MPI_Datatype type, void*, auto block,
                    MPI_Datatype block_type, MPI_Comm comm) {
    const Group& group = call.in(comm);
    call.sent_bytes = is_in_place(from) ? Bytes{call}(block, block_type) : Bytes{call}(count, type);
    call.received_bytes = Bytes{call}(block, block_type) * static_cast<unsigned>(group.ranks);
  }
};
struct Allgatherv {
  static void after(Described& call, const void* from, auto count, MPI_Datatype type, void*, const auto* counts,
                    const auto*, MPI_Datatype block_type, MPI_Comm comm) {
    const Group& group = call.in(comm);
    call.sent_bytes = is_in_place(from) ? Bytes{call}(counts[group.rank], block_type) : Bytes{call}(count, type);
    call.received_bytes = Bytes{call}.sum(counts, block_type, group.ranks);
  }
};
struct Alltoall {
  static void after(Described& call, const void* from, auto count, MPI_Datatype type, void*, auto block,
                    MPI_Datatype block_type, MPI_Comm comm) {
    const auto ranks = static_cast<unsigned>(call.in(comm).ranks);
    call.received_bytes = Bytes{call}(block, block_type) * ranks;
    call.sent_bytes = is_in_place(from) ? call.received_bytes : Bytes{call}(count, type) * ranks;
  }
};
// Of alltoallv and, with an array of types, alltoallw.
struct Alltoallv {
  static void after(Described& call, const void* from, const auto* counts, const auto*, auto type, void*,
                    const auto* blocks, const auto*, auto block_type, MPI_Comm comm) {
    const int ranks = call.in(comm).ranks;
    call.received_bytes = Bytes{call}.sum(blocks, block_type, ranks);
    call.sent_bytes = is_in_place(from) ? call.received_bytes : Bytes{call}.sum(counts, type, ranks);
  }
};
struct Reduce {
  static void after(Described& call, const void*, void*, auto count, MPI_Datatype type, MPI_Op, int root,
                    MPI_Comm comm) {
    const bool gets = is_root(call, call.in(comm), root);
    call.sent_bytes = Bytes{call}(count, type);
    if (gets) call.received_bytes = call.sent_bytes;
  }
};
struct Allreduce {
  static void after(Described& call, const void*, void*, auto count, MPI_Datatype type, MPI_Op, MPI_Comm comm) {
    call.in(comm);
    call.sent_bytes = call.received_bytes = Bytes{call}(count, type);
  }
};
struct ReduceScatter {
  static void after(Described& call, const void*, void*, const auto* counts, MPI_Datatype type, MPI_Op, MPI_Comm comm) {
    const Group& group = call.in(comm);
    call.sent_bytes = Bytes{call}.sum(counts, type, group.ranks);
    call.received_bytes = Bytes{call}(counts[group.rank], type);
  }
};
struct ReduceScatterBlock {
  static void after(Described& call, const void*, void*, auto block, MPI_Datatype type, MPI_Op, MPI_Comm comm) {
    const Group& group = call.in(comm);
    call.received_bytes = Bytes{call}(block, type);
    call.sent_bytes = call.received_bytes * static_cast<unsigned>(group.ranks);
  }
};
struct NeighborAllgather {
  static void after(Described& call, const void*, auto count, MPI_Datatype type, void*, auto block,
                    MPI_Datatype block_type, MPI_Comm comm) {
    const Group& group = call.in(comm);
    call.sent_bytes = Bytes{call}(count, type) * static_cast<unsigned>(group.destinations);
    call.received_bytes = Bytes{call}(block, block_type) * static_cast<unsigned>(group.sources);
  }
};
struct NeighborAllgatherv {
  static void after(Described& call, const void*, auto count, MPI_Datatype type, void*, const auto* counts, const auto*,
                    MPI_Datatype block_type, MPI_Comm comm) {
    const Group& group = call.in(comm);
    call.sent_bytes = Bytes{call}(count, type) * static_cast<unsigned>(group.destinations);
    call.received_bytes = Bytes{call}.sum(counts, block_type, group.sources);
  }
};
struct NeighborAlltoallv {
  static void after(Described& call, const void*, const auto* counts, const auto*, auto type, void*, const auto* blocks,
                    const auto*, auto block_type, MPI_Comm comm) {
    const Group& group = call.in(comm);
    call.sent_bytes = Bytes{call}.sum(counts, type, group.destinations);
    call.received_bytes = Bytes{call}.sum(blocks, block_type, group.sources);
  }
};

}  // namespace
}  // namespace chiplog::tracer

using namespace chiplog::tracer;

#if MPI_VERSION >= 4 || (defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION >= 5)
#define CHIPLOG_PREPARED(NAME, COUNT, LOWER, UPPER, ...) \
  CHIPLOG_CALL(NAME##_init, COUNT, LOWER##_init, UPPER##_INIT, PreparingWithInfo<__VA_ARGS__>)
#else
#define CHIPLOG_PREPARED(NAME, COUNT, LOWER, UPPER, ...)
#endif

// Blocking, non-blocking, persistent; COUNT and the next two numbers are how many arguments these have.
#define CHIPLOG_COLLECTIVE(NAME, SMALL, COUNT, ONE_MORE, TWO_MORE, LOWER, UPPER, SHAPE) \
  CHIPLOG_CALL(NAME, COUNT, LOWER, UPPER, SHAPE)                                        \
  CHIPLOG_CALL(I##SMALL, ONE_MORE, i##LOWER, I##UPPER, Starting<SHAPE>)                 \
  CHIPLOG_PREPARED(NAME, TWO_MORE, LOWER, UPPER, SHAPE)

CHIPLOG_COLLECTIVE(Barrier, barrier, 1, 2, 3, barrier, BARRIER, Barrier)
CHIPLOG_COLLECTIVE(Bcast, bcast, 5, 6, 7, bcast, BCAST, Bcast)
CHIPLOG_COLLECTIVE(Gather, gather, 8, 9, 10, gather, GATHER, Gather)
CHIPLOG_COLLECTIVE(Gatherv, gatherv, 9, 10, 11, gatherv, GATHERV, Gatherv)
CHIPLOG_COLLECTIVE(Scatter, scatter, 8, 9, 10, scatter, SCATTER, Scatter)
CHIPLOG_COLLECTIVE(Scatterv, scatterv, 9, 10, 11, scatterv, SCATTERV, Scatterv)
CHIPLOG_COLLECTIVE(Allgather, allgather, 7, 8, 9, allgather, ALLGATHER, Allgather)
CHIPLOG_COLLECTIVE(Allgatherv, allgatherv, 8, 9, 10, allgatherv, ALLGATHERV, Allgatherv)
CHIPLOG_COLLECTIVE(Alltoall, alltoall, 7, 8, 9, alltoall, ALLTOALL, Alltoall)
CHIPLOG_COLLECTIVE(Alltoallv, alltoallv, 9, 10, 11, alltoallv, ALLTOALLV, Alltoallv)
CHIPLOG_COLLECTIVE(Alltoallw, alltoallw, 9, 10, 11, alltoallw, ALLTOALLW, Alltoallv)
CHIPLOG_COLLECTIVE(Reduce, reduce, 7, 8, 9, reduce, REDUCE, Reduce)
CHIPLOG_COLLECTIVE(Allreduce, allreduce, 6, 7, 8, allreduce, ALLREDUCE, Allreduce)
CHIPLOG_COLLECTIVE(Reduce_scatter, reduce_scatter, 6, 7, 8, reduce_scatter, REDUCE_SCATTER, ReduceScatter)
CHIPLOG_COLLECTIVE(Reduce_scatter_block, reduce_scatter_block, 6, 7, 8, reduce_scatter_block, REDUCE_SCATTER_BLOCK,
                   ReduceScatterBlock)
CHIPLOG_COLLECTIVE(Scan, scan, 6, 7, 8, scan, SCAN, Allreduce)
CHIPLOG_COLLECTIVE(Exscan, exscan, 6, 7, 8, exscan, EXSCAN, Allreduce)
CHIPLOG_COLLECTIVE(Neighbor_allgather, neighbor_allgather, 7, 8, 9, neighbor_allgather, NEIGHBOR_ALLGATHER,
                   NeighborAllgather)
CHIPLOG_COLLECTIVE(Neighbor_allgatherv, neighbor_allgatherv, 8, 9, 10, neighbor_allgatherv, NEIGHBOR_ALLGATHERV,
                   NeighborAllgatherv)
CHIPLOG_COLLECTIVE(Neighbor_alltoall, neighbor_alltoall, 7, 8, 9, neighbor_alltoall, NEIGHBOR_ALLTOALL,
                   NeighborAllgather)
CHIPLOG_COLLECTIVE(Neighbor_alltoallv, neighbor_alltoallv, 9, 10, 11, neighbor_alltoallv, NEIGHBOR_ALLTOALLV,
                   NeighborAlltoallv)
CHIPLOG_COLLECTIVE(Neighbor_alltoallw, neighbor_alltoallw, 9, 10, 11, neighbor_alltoallw, NEIGHBOR_ALLTOALLW,
                   NeighborAlltoallv)

CHIPLOG_LARGE_CALL(Bcast, 5, Bcast)
CHIPLOG_LARGE_CALL(Gather, 8, Gather)
CHIPLOG_LARGE_CALL(Gatherv, 9, Gatherv)
CHIPLOG_LARGE_CALL(Scatter, 8, Scatter)
CHIPLOG_LARGE_CALL(Scatterv, 9, Scatterv)
CHIPLOG_LARGE_CALL(Allgather, 7, Allgather)
CHIPLOG_LARGE_CALL(Allgatherv, 8, Allgatherv)
CHIPLOG_LARGE_CALL(Alltoall, 7, Alltoall)
CHIPLOG_LARGE_CALL(Alltoallv, 9, Alltoallv)
CHIPLOG_LARGE_CALL(Alltoallw, 9, Alltoallv)
CHIPLOG_LARGE_CALL(Reduce, 7, Reduce)
CHIPLOG_LARGE_CALL(Allreduce, 6, Allreduce)
CHIPLOG_LARGE_CALL(Reduce_scatter, 6, ReduceScatter)
CHIPLOG_LARGE_CALL(Reduce_scatter_block, 6, ReduceScatterBlock)
CHIPLOG_LARGE_CALL(Scan, 6, Allreduce)
CHIPLOG_LARGE_CALL(Exscan, 6, Allreduce)
CHIPLOG_LARGE_CALL(Ibcast, 6, Starting<Bcast>)
CHIPLOG_LARGE_CALL(Iallgather, 8, Starting<Allgather>)
CHIPLOG_LARGE_CALL(Ialltoall, 8, Starting<Alltoall>)
CHIPLOG_LARGE_CALL(Ireduce, 8, Starting<Reduce>)
CHIPLOG_LARGE_CALL(Iallreduce, 7, Starting<Allreduce>)
