// A communicator that is made, meets in some barriers and is freed: with the barrier library where it is preloaded, and
// by the MPI's functions without it, in turn in one run.
// Usage: set_ups_in_turn BLOCKS COMMUNICATORS_A_BLOCK [BARRIERS ...]
// Rank 0 prints for each block a line "BARRIERS LIBRARY OWN ONE": nanoseconds of such a communicator with the library
// and without, and of one barrier of the MPI's own.
#include <dlfcn.h>
#include <mpi.h>
#include <sched.h>

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace {

void pin(int rank) {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) != 0) return;
  std::vector<int> cpus;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(cpu, &set)) cpus.push_back(cpu);
  }
  CPU_ZERO(&set);
  CPU_SET(cpus[static_cast<std::size_t>(rank) % cpus.size()], &set);
  sched_setaffinity(0, sizeof set, &set);
}

void with_library(int barriers) {
  MPI_Comm made = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &made);
  for (int barrier = 0; barrier < barriers; ++barrier) MPI_Barrier(made);
  MPI_Comm_free(&made);
}

// The MPI's own: the library catches PMPI_Comm_free, too.
decltype(&PMPI_Comm_free) free_of_mpi() {
  Dl_info mpi{};
  if (dladdr(reinterpret_cast<void*>(PMPI_Barrier), &mpi) == 0) return nullptr;
  void* const object = dlopen(mpi.dli_fname, RTLD_NOW | RTLD_NOLOAD);
  if (object == nullptr) return nullptr;
  return reinterpret_cast<decltype(&PMPI_Comm_free)>(dlsym(object, "PMPI_Comm_free"));
}
decltype(&PMPI_Comm_free) own_free = nullptr;

void without(int barriers) {
  MPI_Comm made = MPI_COMM_NULL;
  PMPI_Comm_dup(MPI_COMM_WORLD, &made);
  for (int barrier = 0; barrier < barriers; ++barrier) PMPI_Barrier(made);
  own_free(&made);
}

void one_barrier(int) { PMPI_Barrier(MPI_COMM_WORLD); }

double nanoseconds_each(void (*work)(int), int barriers, int times) {
  PMPI_Barrier(MPI_COMM_WORLD);
  const double begin = MPI_Wtime();
  for (int number = 0; number < times; ++number) work(barriers);
  return (MPI_Wtime() - begin) * 1e9 / times;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  MPI_Init(&argc, &argv);
  own_free = free_of_mpi();
  if (own_free == nullptr) return 1;
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  pin(rank);
  const int blocks = std::atoi(argv[1]);
  const int times = std::atoi(argv[2]);
  for (int argument = 3; argument < argc; ++argument) {
    const int barriers = std::atoi(argv[argument]);
    for (int block = -1; block < blocks; ++block) {  // the first one makes connections
      const bool swapped = block % 2 != 0;
      double library = swapped ? 0 : nanoseconds_each(with_library, barriers, times);
      const double own = nanoseconds_each(without, barriers, times);
      if (swapped) library = nanoseconds_each(with_library, barriers, times);
      const double one = nanoseconds_each(one_barrier, 0, times);
      if (rank == 0 && block >= 0) std::printf("%d %.1f %.1f %.1f\n", barriers, library, own, one);
    }
  }
  MPI_Finalize();
  return 0;
}
