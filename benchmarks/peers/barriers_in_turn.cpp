// MPI_Barrier (the library's where it is preloaded) and PMPI_Barrier (the MPI's own), in turn in one run. For two ranks
// of one node also the bare exchange of two flags, and a flag's way there and back: how far apart the cores are.
// Usage: barriers_in_turn BLOCKS BARRIERS_A_BLOCK [pin] [VARIABLE=VALUE ...]
// With each of the variables set in turn, the library serves a communicator of its own: one more way.
// Rank 0 prints a line a way: its name and the median over the blocks of the time of one barrier, in nanoseconds.
#include <mpi.h>
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "core/cache_lines.hpp"

struct alignas(chiplog::apart_bytes) Flag {
  std::atomic<unsigned long> value{0};
};

// What one of two ranks writes.
struct Flags {
  Flag entered[2];  // used in turn, so that each can be fetched before it is written
  Flag ball;
};

struct Way {
  std::string name;
  std::function<void(int)> run;  // so many barriers
  std::vector<double> block_ns;
};

static void pin(int rank) {
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

// Those of the two ranks, or null where they don't share memory.
static Flags* shared_flags(MPI_Win* window) {
  MPI_Comm node;
  int ranks = 0, rank = 0;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
  MPI_Comm_size(node, &ranks);
  MPI_Comm_rank(node, &rank);
  if (ranks != 2) return nullptr;
  void* own = nullptr;
  MPI_Win_allocate_shared(rank == 0 ? 4096 : 0, 1, MPI_INFO_NULL, node, &own, window);
  MPI_Aint bytes = 0;
  int unit = 0;
  void* first = nullptr;
  MPI_Win_shared_query(*window, 0, &bytes, &unit, &first);
  const auto aligned = (reinterpret_cast<std::uintptr_t>(first) + 127) / 128 * 128;
  return reinterpret_cast<Flags*>(aligned);
}

// The fastest exchange known: as little as can be between two barriers.
static void exchange(Flags& own, Flags& other, unsigned long& done, int count) {
  for (int i = 0; i < count; ++i) {
    const std::size_t place = ++done % 2;
    own.entered[place].value.store(done, std::memory_order_release);
    do {
      chiplog::relax();
    } while (other.entered[place].value.load(std::memory_order_acquire) < done);
    chiplog::fetch_for_writing(&own.entered[1 - place]);
  }
}

static void there_and_back(Flags& own, Flags& other, bool begins, unsigned long& done, int count) {
  for (int i = 0; i < count; ++i) {
    ++done;
    if (begins) own.ball.value.store(done, std::memory_order_release);
    while (other.ball.value.load(std::memory_order_acquire) < done) {
    }
    if (!begins) own.ball.value.store(done, std::memory_order_release);
  }
}

static MPI_Comm communicator_with(const std::string& setting) {
  const std::size_t end = setting.find('=');
  const std::string variable = setting.substr(0, end);
  setenv(variable.c_str(), setting.c_str() + end + 1, 1);
  MPI_Comm copy = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &copy);
  MPI_Barrier(copy);  // the first one reads the settings
  unsetenv(variable.c_str());
  return copy;
}

static void meet(MPI_Comm communicator, int count) {
  for (int i = 0; i < count; ++i) MPI_Barrier(communicator);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int ranks = 0, rank = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (argc < 3) MPI_Abort(MPI_COMM_WORLD, 2);
  const int blocks = std::atoi(argv[1]), barriers = std::atoi(argv[2]);
  int argument = 3;
  if (argc > argument && std::strcmp(argv[argument], "pin") == 0) {
    pin(rank);
    ++argument;
  }

  constexpr int until_trials_are_over = 1000;
  const bool is_settled = std::getenv("CHIPLOG_BARRIER_N") != nullptr;  // then there is no trial
  if (!is_settled) meet(MPI_COMM_WORLD, until_trials_are_over);
  std::vector<Way> ways;
  ways.push_back({"library", [](int count) { meet(MPI_COMM_WORLD, count); }, {}});
  ways.push_back({"own",
                  [](int count) {
                    for (int i = 0; i < count; ++i) PMPI_Barrier(MPI_COMM_WORLD);
                  },
                  {}});
  for (; argument < argc; ++argument) {
    const MPI_Comm copy = communicator_with(argv[argument]);
    ways.push_back({argv[argument], [copy](int count) { meet(copy, count); }, {}});
  }
  MPI_Win window = MPI_WIN_NULL;
  unsigned long exchanged = 0, returned = 0;
  Flags* flags = ranks == 2 ? shared_flags(&window) : nullptr;
  if (flags != nullptr) {
    Flags& own = flags[rank];
    Flags& other = flags[1 - rank];
    ways.push_back({"flags", [&](int count) { exchange(own, other, exchanged, count); }, {}});
    ways.push_back({"return", [&](int count) { there_and_back(own, other, rank == 0, returned, count); }, {}});
  }
  for (int block = -1; block < blocks; ++block) {  // the first is warm-up
    for (Way& way : ways) {
      way.run(1);  // ranks that share cores would leave another barrier far apart
      const double begin = MPI_Wtime();
      way.run(barriers);
      if (block >= 0) way.block_ns.push_back((MPI_Wtime() - begin) * 1e9 / barriers);
    }
  }
  for (Way& way : ways) {
    std::sort(way.block_ns.begin(), way.block_ns.end());
    if (rank == 0) std::printf("%s %.2f\n", way.name.c_str(), way.block_ns[way.block_ns.size() / 2]);
  }
  if (window != MPI_WIN_NULL) MPI_Win_free(&window);
  MPI_Finalize();
  return 0;
}
