// A tool to preload: an MPI whose collective operations change the last byte of a result, on one rank, where the data
// are bytes, or more than one int or double: what programs agree on among themselves is a single one.
#include <dlfcn.h>
#include <mpi.h>

#include <cstddef>

namespace {

template <class Function>
Function* next(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

int ranks_of(MPI_Comm communicator) {
  int ranks = 0;
  PMPI_Comm_size(communicator, &ranks);
  return ranks;
}

int bytes_of(int count, MPI_Datatype type) {
  if (type == MPI_BYTE) return count;
  if (count < 2) return 0;
  if (type == MPI_INT) return count * static_cast<int>(sizeof(int));
  return type == MPI_DOUBLE ? count * static_cast<int>(sizeof(double)) : 0;
}

void spoil(void* result, int count, MPI_Datatype type, MPI_Comm communicator, int wrong_rank) {
  int rank = 0;
  PMPI_Comm_rank(communicator, &rank);
  const int bytes = bytes_of(count, type);
  if (bytes > 0 && rank == wrong_rank) static_cast<char*>(result)[bytes - 1] ^= 1;
}

}  // namespace

#define TOOL extern "C" [[gnu::visibility("default")]]

TOOL int PMPI_Bcast(void* data, int count, MPI_Datatype type, int root, MPI_Comm communicator) {
  static auto* const real = next<decltype(PMPI_Bcast)>("PMPI_Bcast");
  const int code = real(data, count, type, root, communicator);
  spoil(data, count, type, communicator, 1);
  return code;
}

TOOL int PMPI_Reduce(const void* send, void* receive, int count, MPI_Datatype type, MPI_Op op, int root,
                     MPI_Comm communicator) {
  static auto* const real = next<decltype(PMPI_Reduce)>("PMPI_Reduce");
  const int code = real(send, receive, count, type, op, root, communicator);
  spoil(receive, count, type, communicator, root);
  return code;
}

TOOL int PMPI_Allreduce(const void* send, void* receive, int count, MPI_Datatype type, MPI_Op op,
                        MPI_Comm communicator) {
  static auto* const real = next<decltype(PMPI_Allreduce)>("PMPI_Allreduce");
  const int code = real(send, receive, count, type, op, communicator);
  spoil(receive, count, type, communicator, 1);
  return code;
}

TOOL int PMPI_Reduce_scatter(const void* send, void* receive, const int* counts, MPI_Datatype type, MPI_Op op,
                             MPI_Comm communicator) {
  static auto* const real = next<decltype(PMPI_Reduce_scatter)>("PMPI_Reduce_scatter");
  const int code = real(send, receive, counts, type, op, communicator);
  spoil(receive, counts[1], type, communicator, 1);
  return code;
}

// Of operations whose result has a block from each rank.
#define SPOILED_BLOCKS(name)                                                                                        \
  TOOL int name(const void* send, int sent, MPI_Datatype type, void* receive, int count, MPI_Datatype receive_type, \
                MPI_Comm communicator) {                                                                            \
    static auto* const real = next<decltype(name)>(#name);                                                          \
    const int code = real(send, sent, type, receive, count, receive_type, communicator);                            \
    spoil(receive, count * ranks_of(communicator), type, communicator, 1);                                          \
    return code;                                                                                                    \
  }

SPOILED_BLOCKS(PMPI_Allgather)
SPOILED_BLOCKS(PMPI_Alltoall)
