// Calls one collective function 100 times: one_collective FUNCTION BYTES, of the whole message or of a block.
#include <mpi.h>

#include <cstdlib>
#include <string>
#include <vector>

int main(int count, char** arguments) {
  MPI_Init(&count, &arguments);
  const std::string function = count > 1 ? arguments[1] : "barrier";
  const int bytes = count > 2 ? std::atoi(arguments[2]) : 0;
  const MPI_Comm world = MPI_COMM_WORLD;
  int ranks = 0;
  MPI_Comm_size(world, &ranks);
  const auto room = static_cast<std::size_t>(ranks) * (static_cast<std::size_t>(bytes) + 64);
  std::vector<char> given(room), got(room);
  const std::vector<int> blocks(static_cast<std::size_t>(ranks), bytes / ranks);
  char* in = given.data();
  char* out = got.data();
  for (int call = 0; call < 100; ++call) {
    if (function == "barrier") MPI_Barrier(world);
    if (function == "bcast") MPI_Bcast(in, bytes, MPI_BYTE, 0, world);
    if (function == "reduce") MPI_Reduce(in, out, bytes, MPI_BYTE, MPI_BOR, 0, world);
    if (function == "allreduce") MPI_Allreduce(in, out, bytes, MPI_BYTE, MPI_BOR, world);
    if (function == "reduce_scatter") MPI_Reduce_scatter(in, out, blocks.data(), MPI_BYTE, MPI_BOR, world);
    if (function == "scan") MPI_Scan(in, out, bytes, MPI_BYTE, MPI_BOR, world);
    if (function == "gather") MPI_Gather(in, bytes, MPI_BYTE, out, bytes, MPI_BYTE, 0, world);
    if (function == "scatter") MPI_Scatter(in, bytes, MPI_BYTE, out, bytes, MPI_BYTE, 0, world);
    if (function == "allgather") MPI_Allgather(in, bytes, MPI_BYTE, out, bytes, MPI_BYTE, world);
    if (function == "alltoall") MPI_Alltoall(in, bytes, MPI_BYTE, out, bytes, MPI_BYTE, world);
  }
  MPI_Finalize();
  return 0;
}
