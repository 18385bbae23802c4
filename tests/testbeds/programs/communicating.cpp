// Programs that compute and communicate as applications do: `communicating PROGRAM ROUNDS` prints the seconds from a
// barrier to the end of the slowest rank. In place of computing they sleep: that takes as long whatever else runs on
// the host.

#include <mpi.h>
#include <time.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

namespace {

int rank, ranks, rounds;
char outgoing[1 << 16], incoming[4][1 << 16];

int next() { return (rank + 1) % ranks; }
int previous() { return (rank + ranks - 1) % ranks; }

long long now_ns() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1'000'000'000LL + now.tv_nsec;
}

/// Takes exactly so long: it sleeps for most of that, and looks at the clock for the rest, as a sleeper may wake late.
void compute(double milliseconds) {
  constexpr long long awake_ns = 200'000;
  const long long end_ns = now_ns() + static_cast<long long>(milliseconds * 1e6);
  const long long until_ns = end_ns - awake_ns;
  const timespec until{until_ns / 1'000'000'000, until_ns % 1'000'000'000};
  clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, nullptr);
  while (now_ns() < end_ns) {
  }
}

/// A token goes around; all compute before they have it.
void ring() {
  for (int round = 0; round < rounds; ++round) {
    compute(1);
    if (rank == 0) MPI_Send(outgoing, 4096, MPI_BYTE, next(), 1, MPI_COMM_WORLD);
    MPI_Recv(incoming[0], 4096, MPI_BYTE, previous(), 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank != 0) MPI_Send(outgoing, 4096, MPI_BYTE, next(), 1, MPI_COMM_WORLD);
  }
}

/// Ranks on a plane swap 16 KiB with up to four neighbours.
void halo() {
  int sides[2] = {0, 0}, no[2] = {0, 0}, neighbours[4];
  MPI_Comm plane;
  MPI_Dims_create(ranks, 2, sides);
  MPI_Cart_create(MPI_COMM_WORLD, 2, sides, no, 0, &plane);
  for (int side = 0; side < 2; ++side) MPI_Cart_shift(plane, side, 1, &neighbours[2 * side], &neighbours[2 * side + 1]);
  for (int round = 0; round < rounds; ++round) {
    MPI_Request requests[8];
    for (int i = 0; i < 4; ++i) MPI_Irecv(incoming[i], 16384, MPI_BYTE, neighbours[i], i, plane, &requests[i]);
    for (int i = 0; i < 4; ++i) MPI_Isend(outgoing, 16384, MPI_BYTE, neighbours[i], i ^ 1, plane, &requests[4 + i]);
    MPI_Waitall(8, requests, MPI_STATUSES_IGNORE);
    compute(2);
  }
  MPI_Comm_free(&plane);
}

void allreduce() {
  double mine[8] = {}, sum[8];
  for (int round = 0; round < rounds; ++round) {
    compute(0.5);
    MPI_Allreduce(mine, sum, 8, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  }
}

/// Rank 0 hands out `rounds` pieces of work to whoever asks.
void master() {
  int word = 0;
  if (rank == 0) {
    for (int working = ranks - 1, given = 0; working > 0;) {
      MPI_Status asks;
      MPI_Recv(&word, 1, MPI_INT, MPI_ANY_SOURCE, 3, MPI_COMM_WORLD, &asks);
      const int more = given++ < rounds;
      if (!more) --working;
      MPI_Send(&more, 1, MPI_INT, asks.MPI_SOURCE, 4, MPI_COMM_WORLD);
    }
    return;
  }
  for (int more = 1;;) {
    MPI_Send(&word, 1, MPI_INT, 0, 3, MPI_COMM_WORLD);
    MPI_Recv(&more, 1, MPI_INT, 0, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (!more) return;
    compute(1);
  }
}

/// Messages are under way while all compute.
void overlap() {
  for (int round = 0; round < rounds; ++round) {
    MPI_Request requests[2];
    MPI_Irecv(incoming[0], 8192, MPI_BYTE, previous(), 1, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(outgoing, 8192, MPI_BYTE, next(), 1, MPI_COMM_WORLD, &requests[1]);
    compute(1);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    compute(0.2);
  }
}

/// Rows of a plate: each rank swaps one with the ranks above and below, and now and then all ask how much has changed.
void heat() {
  const int above = rank > 0 ? rank - 1 : MPI_PROC_NULL, below = rank + 1 < ranks ? rank + 1 : MPI_PROC_NULL;
  for (int round = 0; round < rounds; ++round) {
    MPI_Sendrecv(outgoing, 8192, MPI_BYTE, above, 1, incoming[0], 8192, MPI_BYTE, below, 1, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    MPI_Sendrecv(outgoing, 8192, MPI_BYTE, below, 2, incoming[1], 8192, MPI_BYTE, above, 2, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    compute(1.5);
    double changed = 1, sum;
    if (round % 10 == 9) MPI_Allreduce(&changed, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  }
}

/// Two groups of ranks, which sum up by themselves; a communicator of all, whose rank 0 is the last one, gets a word.
void communicators() {
  MPI_Comm half, reversed;
  MPI_Comm_split(MPI_COMM_WORLD, ranks < 4 ? 0 : rank % 2, rank, &half);
  MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &reversed);
  double mine[64] = {}, sum[64];
  for (int round = 0; round < rounds; ++round) {
    compute(0.7);
    MPI_Allreduce(mine, sum, 64, MPI_DOUBLE, MPI_SUM, half);
    compute(0.3);
    MPI_Bcast(sum, 64, MPI_DOUBLE, 0, reversed);
  }
  MPI_Comm_free(&half);
  MPI_Comm_free(&reversed);
}

/// Two threads a rank, with a communicator each; the threads of a rank take turns to communicate, not to compute.
void threads() {
  MPI_Comm of_thread[2];
  std::vector<std::thread> workers;
  for (auto& communicator : of_thread) MPI_Comm_dup(MPI_COMM_WORLD, &communicator);
  for (int number = 0; number < 2; ++number)
    workers.emplace_back([number, communicator = of_thread[number]] {
      for (int round = 0; round < rounds; ++round) {
        compute(1 + number);
        MPI_Sendrecv(outgoing, 2048, MPI_BYTE, next(), number, incoming[number], 2048, MPI_BYTE, previous(), number,
                     communicator, MPI_STATUS_IGNORE);
      }
    });
  for (auto& worker : workers) worker.join();
  for (auto& communicator : of_thread) MPI_Comm_free(&communicator);
}

struct Program {
  const char* name;
  void (*run)();
};

constexpr Program programs[] = {
    {"ring", ring},       {"halo", halo}, {"allreduce", allreduce},         {"master", master},
    {"overlap", overlap}, {"heat", heat}, {"communicators", communicators}, {"threads", threads},
};

}  // namespace

int main(int count, char** words) {
  const char* name = count > 2 ? words[1] : "";
  const bool has_threads = std::strcmp(name, "threads") == 0;
  int provided;
  if (has_threads)
    MPI_Init_thread(&count, &words, MPI_THREAD_MULTIPLE, &provided);
  else
    MPI_Init(&count, &words);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  rounds = count > 2 ? std::atoi(words[2]) : 0;
  for (const auto& program : programs) {
    if (std::strcmp(program.name, name) != 0) continue;
    MPI_Barrier(MPI_COMM_WORLD);
    const double begin = MPI_Wtime();
    program.run();
    const double seconds = MPI_Wtime() - begin;
    double slowest;
    MPI_Reduce(&seconds, &slowest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    if (rank == 0) std::printf("%s %.6f\n", name, slowest);
    MPI_Finalize();
    return 0;
  }
  std::fprintf(stderr, "no such program: %s\n", name);
  MPI_Abort(MPI_COMM_WORLD, 2);
}
