// How often does a rank that waits for a late one in MPI_Barrier test a request, which lets the MPI work? Rank 0 of two
// prints that and the wait in milliseconds, before any call of MPI_Comm_idup and then after each of some, with the
// milliseconds since that call. The barriers are those of a copy of the communicator that is given to it.
#include <mpi.h>
#include <unistd.h>

#include <cstdio>

namespace {

constexpr unsigned late_microseconds = 100'000;
long tests = 0;

constexpr double milliseconds = 1e3;

void late_barrier(const char* when, MPI_Comm copy, int rank, double since) {
  MPI_Barrier(copy);
  if (rank == 1) usleep(late_microseconds);
  const long before = tests;
  const double begin = MPI_Wtime();
  MPI_Barrier(copy);
  const double end = MPI_Wtime();
  if (rank != 0) return;
  std::printf("%s %ld %.3f %.3f\n", when, tests - before, milliseconds * (end - begin), milliseconds * (end - since));
}

}  // namespace

// In front of the MPI's, for the library, too.
extern "C" int PMPI_Test(MPI_Request* request, int* is_completed, MPI_Status* status) {
  ++tests;
  return MPI_Test(request, is_completed, status);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm copy = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &copy);
  for (int barrier = 0; barrier < 4; ++barrier) MPI_Barrier(copy);
  late_barrier("before", copy, rank, MPI_Wtime());
  for (int call = 0; call < 5; ++call) {
    MPI_Comm made = MPI_COMM_NULL;
    MPI_Request request = MPI_REQUEST_NULL;
    const double since = MPI_Wtime();
    MPI_Comm_idup(MPI_COMM_WORLD, &made, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    late_barrier("after", copy, rank, since);
    MPI_Comm_free(&made);
  }
  MPI_Comm_free(&copy);
  MPI_Finalize();
}
