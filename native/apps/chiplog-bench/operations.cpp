#include "operations.hpp"

#include <array>

#include "chiplog/error.hpp"

namespace chiplog::bench {
namespace {

#define OPERATION(operation, name, ...)    \
  Operation {                              \
    operation,                             \
        [](Buffers& b, MPI_Comm world) {   \
          (void)b;                         \
          return MPI_##name(__VA_ARGS__);  \
        },                                 \
        [](Buffers& b, MPI_Comm world) {   \
          (void)b;                         \
          return PMPI_##name(__VA_ARGS__); \
        }                                  \
  }

const std::array operations{
    OPERATION("barrier", Barrier, world),
    OPERATION("bcast", Bcast, b.send(), b.bytes(), MPI_CHAR, 0, world),
    OPERATION("reduce", Reduce, b.send(), b.receive(), b.bytes(), MPI_CHAR, MPI_BOR, 0, world),
    OPERATION("allreduce", Allreduce, b.send(), b.receive(), b.bytes(), MPI_CHAR, MPI_BOR, world),
    OPERATION("gather", Gather, b.send(), b.bytes(), MPI_CHAR, b.receive(), b.bytes(), MPI_CHAR, 0, world),
    OPERATION("scatter", Scatter, b.send(), b.bytes(), MPI_CHAR, b.receive(), b.bytes(), MPI_CHAR, 0, world),
    OPERATION("allgather", Allgather, b.send(), b.bytes(), MPI_CHAR, b.receive(), b.bytes(), MPI_CHAR, world),
    OPERATION("reduce_scatter", Reduce_scatter, b.send(), b.receive(), b.blocks(), MPI_CHAR, MPI_BOR, world),
    OPERATION("alltoall", Alltoall, b.send(), b.bytes(), MPI_CHAR, b.receive(), b.bytes(), MPI_CHAR, world),
};

}  // namespace

const Operation& find_operation(const std::string& name) {
  std::string names;
  for (const Operation& one : operations) {
    if (name == one.name) return one;
    names += (names.empty() ? "" : ", ") + std::string(one.name);
  }
  throw UsageError("--operation accepts " + names + ", not '" + name + "'");
}

}  // namespace chiplog::bench
