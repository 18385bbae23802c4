// A library whose barrier never ends on rank 0: what a check of libraries must notice.
#include <mpi.h>
#include <unistd.h>

extern "C" int MPI_Barrier(MPI_Comm communicator) {
  int rank = 0;
  PMPI_Comm_rank(communicator, &rank);
  while (rank == 0) pause();
  return PMPI_Barrier(communicator);
}
