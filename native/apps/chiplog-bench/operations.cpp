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
    OPERATION("bcast", Bcast, b.send(), b.count(), b.datatype().type, 0, world),
    OPERATION("reduce", Reduce, b.send(), b.receive(), b.count(), b.datatype().type, b.datatype().reduction, 0, world),
    OPERATION("allreduce", Allreduce, b.send(), b.receive(), b.count(), b.datatype().type, b.datatype().reduction,
              world),
    OPERATION("gather", Gather, b.send(), b.count(), b.datatype().type, b.receive(), b.count(), b.datatype().type, 0,
              world),
    OPERATION("scatter", Scatter, b.send(), b.count(), b.datatype().type, b.receive(), b.count(), b.datatype().type, 0,
              world),
    OPERATION("allgather", Allgather, b.send(), b.count(), b.datatype().type, b.receive(), b.count(), b.datatype().type,
              world),
    OPERATION("reduce_scatter", Reduce_scatter, b.send(), b.receive(), b.blocks(), b.datatype().type,
              b.datatype().reduction, world),
    OPERATION("alltoall", Alltoall, b.send(), b.count(), b.datatype().type, b.receive(), b.count(), b.datatype().type,
              world),
};

}  // namespace

Datatype find_datatype(const std::string& name) {
  if (name == "byte") return {"byte", 1, MPI_BYTE, MPI_BOR};
  if (name == "int") return {"int", sizeof(int), MPI_INT, MPI_SUM};
  if (name == "double") return {"double", sizeof(double), MPI_DOUBLE, MPI_SUM};
  throw UsageError("--type accepts byte, int, double, not '" + name + "'");
}

int Buffers::count_in(int bytes, const Datatype& datatype) {
  if (bytes % datatype.bytes == 0) return bytes / datatype.bytes;
  throw UsageError(std::to_string(bytes) + " B are no whole number of " + datatype.name + "s, of " +
                   std::to_string(datatype.bytes) + " B each");
}

const Operation& find_operation(const std::string& name) {
  std::string names;
  for (const Operation& one : operations) {
    if (name == one.name) return one;
    names += (names.empty() ? "" : ", ") + std::string(one.name);
  }
  throw UsageError("--operation accepts " + names + ", not '" + name + "'");
}

}  // namespace chiplog::bench
