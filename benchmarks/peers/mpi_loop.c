/* The plain loop that anybody would write: MPI_Send, MPI_Recv between two pinned ranks.
   Usage: mpi_loop BYTES ROUND_TRIPS; prints the median over 200 blocks of half a round trip, in nanoseconds. */
#define _GNU_SOURCE
#include <mpi.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

static int by_value(const void* a, const void* b) {
  const double x = *(const double*)a, y = *(const double*)b;
  return (x > y) - (x < y);
}

int main(int argc, char** argv) {
  enum { blocks = 200 };
  double half_ns[blocks];
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(rank, &set);
  sched_setaffinity(0, sizeof set, &set);
  const int bytes = atoi(argv[1]);
  const int per_block = atoi(argv[2]) / blocks;
  char* buffer = malloc((size_t)bytes + 1);
  for (int block = -1; block < blocks; ++block) { /* block -1 is warm-up */
    const double begin = MPI_Wtime();
    for (int i = 0; i < per_block; ++i) {
      if (rank == 0) {
        MPI_Send(buffer, bytes, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
        MPI_Recv(buffer, bytes, MPI_BYTE, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      } else {
        MPI_Recv(buffer, bytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Send(buffer, bytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
      }
    }
    if (block >= 0) half_ns[block] = (MPI_Wtime() - begin) / per_block / 2 * 1e9;
  }
  if (rank == 0) {
    qsort(half_ns, blocks, sizeof *half_ns, by_value);
    printf("%.4f\n", half_ns[blocks / 2]);
  }
  free(buffer);
  MPI_Finalize();
  return 0;
}
