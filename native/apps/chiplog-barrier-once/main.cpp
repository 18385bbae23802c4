// One barrier of the first SIZE ranks, and how it ended: what `chiplog check-tuning` runs with a marked tuning file.
// Prints "started", and "barrier SIZE ok" or "barrier SIZE error TEXT"; exit code 2 where there are fewer ranks.

#include <mpi.h>

#include <cstdio>
#include <cstdlib>

namespace {

constexpr int too_few_ranks = 2;

// All ranks are here when rank 0 returns; no tuning file says how.
void meet(int rank, int ranks) {
  if (rank != 0) MPI_Send(nullptr, 0, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
  for (int other = 1; rank == 0 && other < ranks; ++other) {
    MPI_Recv(nullptr, 0, MPI_BYTE, other, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
}

int run(int size) {
  int rank = 0;
  int ranks = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (ranks < size) {
    if (rank == 0) std::printf("ranks %d\n", ranks);
    return too_few_ranks;
  }
  meet(rank, ranks);
  if (rank == 0) std::printf("started\n");
  std::fflush(stdout);
  MPI_Comm part = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, rank < size ? 0 : MPI_UNDEFINED, rank, &part);
  if (part == MPI_COMM_NULL) return EXIT_SUCCESS;
  MPI_Comm_set_errhandler(part, MPI_ERRORS_RETURN);
  const int code = MPI_Barrier(part);
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  if (code != MPI_SUCCESS) MPI_Error_string(code, text, &length);
  if (rank == 0) std::printf("barrier %d %s %s\n", size, code == MPI_SUCCESS ? "ok" : "error", text);
  MPI_Comm_free(&part);
  return EXIT_SUCCESS;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int code = run(argc > 1 ? std::atoi(argv[1]) : 3);
  std::fflush(stdout);
  MPI_Finalize();
  return code;
}
