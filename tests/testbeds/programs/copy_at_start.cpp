// A tool to preload: at the end of MPI_Init all ranks copy MPI_COMM_WORLD, as many libraries do. Some programs hang or
// not by how far apart their ranks begin, or since there is a copy.
#include <mpi.h>

#define TOOL [[gnu::visibility("default")]]

namespace {

MPI_Comm copied = MPI_COMM_NULL;

int copy_after(int error) { return error == MPI_SUCCESS ? PMPI_Comm_dup(MPI_COMM_WORLD, &copied) : error; }

}  // namespace

extern "C" {

TOOL int MPI_Init(int* count, char*** arguments) { return copy_after(PMPI_Init(count, arguments)); }
TOOL int MPI_Init_thread(int* count, char*** arguments, int required, int* provided) {
  return copy_after(PMPI_Init_thread(count, arguments, required, provided));
}
TOOL int MPI_Finalize() {
  PMPI_Comm_free(&copied);
  return PMPI_Finalize();
}

}  // extern "C"
