// What the tracer records, case by case; every case ends with MPI_Finalize, unless it is there to die.
#include <mpi.h>
#include <signal.h>

#include <chrono>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

namespace {

int rank = 0;
int ranks = 1;
int next_rank() { return (rank + 1) % ranks; }
int previous_rank() { return (rank + ranks - 1) % ranks; }

// 3 rounds: 8 B there by Send, 40 B back to a wildcard by Isend and Irecv; a Sendrecv of 24 B.
void messages() {
  double values[8] = {};
  for (int round = 0; round < 3; ++round) {
    if (rank == 0) {
      MPI_Send(values, 1, MPI_DOUBLE, 1, 100000, MPI_COMM_WORLD);
      MPI_Request request = MPI_REQUEST_NULL;
      MPI_Irecv(values, 8, MPI_DOUBLE, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &request);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
    } else if (rank == 1) {
      MPI_Recv(values, 8, MPI_DOUBLE, MPI_ANY_SOURCE, 100000, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      MPI_Request request = MPI_REQUEST_NULL;
      MPI_Isend(values, 5, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, &request);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Sendrecv(values, 3, MPI_DOUBLE, next_rank(), 2, values + 4, 4, MPI_DOUBLE, previous_rank(), 2, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
  }
}

void halo(int rounds) {
  std::vector<double> values(400);
  for (int round = 0; round < rounds; ++round) {
    MPI_Request requests[8];
    for (int i = 0; i < 4; ++i) {
      MPI_Irecv(&values[100], 100, MPI_DOUBLE, previous_rank(), i, MPI_COMM_WORLD, &requests[i]);
    }
    for (int i = 0; i < 4; ++i) {
      MPI_Isend(&values[0], 100, MPI_DOUBLE, next_rank(), i, MPI_COMM_WORLD, &requests[4 + i]);
    }
    MPI_Waitall(8, requests, MPI_STATUSES_IGNORE);
  }
}

void collectives() {
  std::vector<int> from(64), into(64), counts(static_cast<std::size_t>(ranks), 2), places(counts.size());
  for (std::size_t i = 0; i < places.size(); ++i) places[i] = static_cast<int>(2 * i);
  const MPI_Comm world = MPI_COMM_WORLD;
  MPI_Bcast(from.data(), 4, MPI_INT, 1, world);
  MPI_Reduce(from.data(), into.data(), 4, MPI_INT, MPI_SUM, 0, world);
  MPI_Allreduce(MPI_IN_PLACE, into.data(), 4, MPI_INT, MPI_SUM, world);
  MPI_Gather(from.data(), 2, MPI_INT, into.data(), 2, MPI_INT, 0, world);
  MPI_Scatterv(from.data(), counts.data(), places.data(), MPI_INT, into.data(), 2, MPI_INT, 0, world);
  MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, into.data(), 2, MPI_INT, world);
  MPI_Alltoall(from.data(), 2, MPI_INT, into.data(), 2, MPI_INT, world);
  MPI_Reduce_scatter(from.data(), into.data(), counts.data(), MPI_INT, MPI_SUM, world);
  MPI_Request requests[2];
  MPI_Iallreduce(from.data(), into.data(), 4, MPI_INT, MPI_SUM, world, &requests[0]);
  MPI_Ibarrier(world, &requests[1]);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  const int size[1] = {ranks};
  const int is_periodic[1] = {1};
  MPI_Comm ring = MPI_COMM_NULL;
  MPI_Cart_create(world, 1, size, is_periodic, 0, &ring);
  MPI_Neighbor_allgather(from.data(), 2, MPI_INT, into.data(), 2, MPI_INT, ring);
  MPI_Comm_free(&ring);
}

void persistent() {
  double values[8] = {};
  MPI_Request requests[2];
  MPI_Send_init(values, 1, MPI_DOUBLE, next_rank(), 9, MPI_COMM_WORLD, &requests[0]);
  MPI_Recv_init(values + 1, 4, MPI_DOUBLE, MPI_ANY_SOURCE, 9, MPI_COMM_WORLD, &requests[1]);
  for (int round = 0; round < 2; ++round) {
    MPI_Startall(2, requests);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  }
  MPI_Start(&requests[0]);
  MPI_Start(&requests[1]);
  int index = 0;
  MPI_Waitany(2, requests, &index, MPI_STATUS_IGNORE);
  MPI_Waitany(2, requests, &index, MPI_STATUS_IGNORE);
  MPI_Request_free(&requests[0]);
  MPI_Request_free(&requests[1]);
}

// Pairs in reverse order, and a duplicate of them.
void communicators() {
  MPI_Comm half = MPI_COMM_NULL;
  MPI_Comm copy = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, rank / 2, -rank, &half);
  MPI_Comm_dup(half, &copy);
  int value = rank;
  MPI_Bcast(&value, 1, MPI_INT, 0, half);
  MPI_Barrier(copy);
  MPI_Comm_free(&copy);
  MPI_Comm_free(&half);
}

void one_sided() {
  double memory[4] = {};
  double value = 1;
  MPI_Win window = MPI_WIN_NULL;
  MPI_Win_create(memory, sizeof memory, sizeof(double), MPI_INFO_NULL, MPI_COMM_WORLD, &window);
  MPI_Win_fence(0, window);
  MPI_Put(&value, 1, MPI_DOUBLE, next_rank(), 0, 1, MPI_DOUBLE, window);
  MPI_Win_fence(0, window);
  MPI_Win_free(&window);
}

void threads() {
  std::vector<std::thread> all;
  for (int number = 0; number < 3; ++number) {
    all.emplace_back([number] {
      for (int round = 0; round < 2000; ++round) {
        int given = round;
        int got = 0;
        MPI_Request requests[2];
        MPI_Irecv(&got, 1, MPI_INT, previous_rank(), number, MPI_COMM_WORLD, &requests[0]);
        MPI_Isend(&given, 1, MPI_INT, next_rank(), number, MPI_COMM_WORLD, &requests[1]);
        if (round % 2 == 0) {
          MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        } else {
          for (MPI_Request& request : requests) MPI_Wait(&request, MPI_STATUS_IGNORE);
        }
      }
    });
  }
  for (std::thread& thread : all) thread.join();
}

// Twice two threads, which sleep 20 and 40 ms in each of 10 rounds and then swap a word with the next rank's; the first
// thread joins them, and all ranks meet.
void sleeping_threads() {
  for (int phase = 0; phase < 2; ++phase) {
    std::vector<std::thread> all;
    for (int number = 0; number < 2; ++number) {
      all.emplace_back([number] {
        for (int round = 0; round < 10; ++round) {
          std::this_thread::sleep_for(std::chrono::milliseconds(20 * (1 + number)));
          int given = round;
          int got = 0;
          MPI_Sendrecv(&given, 1, MPI_INT, next_rank(), number, &got, 1, MPI_INT, previous_rank(), number,
                       MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
      });
    }
    for (std::thread& thread : all) thread.join();
    MPI_Barrier(MPI_COMM_WORLD);
  }
}

void die(int how) {
  messages();
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0 && how == 0) raise(SIGKILL);
  if (rank == 0 && how == 1) MPI_Abort(MPI_COMM_WORLD, 3);
  MPI_Barrier(MPI_COMM_WORLD);
}

}  // namespace

int main(int count, char** arguments) {
  const std::string what = count > 1 ? arguments[1] : "";
  int level = 0;
  if (what == "threads" || what == "sleeping-threads") {
    MPI_Init_thread(&count, &arguments, MPI_THREAD_MULTIPLE, &level);
  } else {
    MPI_Init(&count, &arguments);
  }
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (what == "messages") messages();
  if (what == "halo") halo(count > 2 ? std::atoi(arguments[2]) : 50);
  if (what == "collectives") collectives();
  if (what == "persistent") persistent();
  if (what == "communicators") communicators();
  if (what == "one-sided") one_sided();
  if (what == "threads" && level == MPI_THREAD_MULTIPLE) threads();
  if (what == "sleeping-threads" && level == MPI_THREAD_MULTIPLE) sleeping_threads();
  if (what == "killed") die(0);
  if (what == "aborted") die(1);
  if (what == "no-finalize") {
    messages();
    std::_Exit(0);
  }
  MPI_Finalize();
  return 0;
}
