// A tool to preload: all ranks meet at the end of MPI_Init, as they do where a library sets something up there. Some
// programs hang or not by how far apart their ranks begin.
#include <mpi.h>

#define TOOL [[gnu::visibility("default")]]

namespace {

int meet_after(int error) { return error == MPI_SUCCESS ? PMPI_Barrier(MPI_COMM_WORLD) : error; }

}  // namespace

extern "C" {

TOOL int MPI_Init(int* count, char*** arguments) { return meet_after(PMPI_Init(count, arguments)); }
TOOL int MPI_Init_thread(int* count, char*** arguments, int required, int* provided) {
  return meet_after(PMPI_Init_thread(count, arguments, required, provided));
}

}  // extern "C"
