// The heat in a plate whose upper edge is hot, by Jacobi's method: each rank has some of its rows.
//
//     mpicc -O2 heat.c -o heat && mpirun -n 4 ./heat
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { N = 1024, STEPS = 500 };

int main(int argc, char** argv) {
  int rank, ranks;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const int rows = N / ranks;  // and one of each neighbour
  double(*now)[N] = calloc(rows + 2, sizeof *now), (*next)[N] = calloc(rows + 2, sizeof *next);
  const int above = rank > 0 ? rank - 1 : MPI_PROC_NULL, below = rank < ranks - 1 ? rank + 1 : MPI_PROC_NULL;
  if (rank == 0)
    for (int j = 0; j < N; ++j) now[0][j] = next[0][j] = 100.0;

  double change = 0.0;
  for (int step = 0; step < STEPS; ++step) {
    MPI_Sendrecv(now[1], N, MPI_DOUBLE, above, 0, now[rows + 1], N, MPI_DOUBLE, below, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    MPI_Sendrecv(now[rows], N, MPI_DOUBLE, below, 1, now[0], N, MPI_DOUBLE, above, 1, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    double mine = 0.0;
    for (int i = 1; i <= rows; ++i)
      for (int j = 1; j < N - 1; ++j) {
        next[i][j] = 0.25 * (now[i - 1][j] + now[i + 1][j] + now[i][j - 1] + now[i][j + 1]);
        mine += (next[i][j] - now[i][j]) * (next[i][j] - now[i][j]);
      }
    MPI_Allreduce(&mine, &change, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    double(*last)[N] = now;
    now = next, next = last;
  }
  if (rank == 0) printf("after %d steps the sum of squared changes is %g\n", STEPS, change);
  free(now), free(next);
  return MPI_Finalize();
}
