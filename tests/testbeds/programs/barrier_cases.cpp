// Cases of MPI_Barrier: barrier_cases CASE [NUMBER ...]. Rank 0 prints "CASE ok"; else the program ends with 1.
// With BROKEN_BARRIER defined MPI_Barrier is n-way dissemination without its last message, which "meet" must catch.
#include <dirent.h>
#include <mpi.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <map>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "core/barrier_algorithms.hpp"

namespace {

using Numbers = std::vector<int>;

int rank_in(MPI_Comm communicator) {
  int rank = 0;
  MPI_Comm_rank(communicator, &rank);
  return rank;
}

int ranks_in(MPI_Comm communicator) {
  int ranks = 0;
  MPI_Comm_size(communicator, &ranks);
  return ranks;
}

void require(bool fact, const char* what) {
  if (fact) return;
  std::fprintf(stderr, "rank %d: not so: %s\n", rank_in(MPI_COMM_WORLD), what);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

void sleep_us(long us) {
  timespec wanted{us / 1000000, us % 1000000 * 1000};
  nanosleep(&wanted, nullptr);
}

// One clock for all ranks: they share a host, or a simulation.
double now_seconds() {
#ifdef CHIPLOG_SMPI
  return MPI_Wtime();
#else
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
#endif
}

// A barrier into which one rank comes late: nobody may leave before it has entered.
void late_barrier(MPI_Comm communicator, int late, long late_us) {
  if (rank_in(communicator) == late) sleep_us(late_us);
  double entered = now_seconds();
  MPI_Barrier(communicator);
  double left = now_seconds();
  double last_entered = 0;
  double first_left = 0;
  PMPI_Allreduce(&entered, &last_entered, 1, MPI_DOUBLE, MPI_MAX, communicator);
  PMPI_Allreduce(&left, &first_left, 1, MPI_DOUBLE, MPI_MIN, communicator);
  require(first_left >= last_entered, "all leave after the last has entered");
}

// The first `ranks` ranks of MPI_COMM_WORLD: `late_ranks` of them are late one after the other, others at random.
void meet(int ranks, unsigned seed, long late_us, int late_ranks) {
  MPI_Comm part = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, rank_in(MPI_COMM_WORLD) < ranks ? 0 : MPI_UNDEFINED, 0, &part);
  if (part == MPI_COMM_NULL) return;
  std::minstd_rand random(seed);  // the same on all ranks
  for (int number = 0; number < std::min(late_ranks, ranks); ++number) {
    late_barrier(part, static_cast<int>((static_cast<unsigned>(number) + seed) % static_cast<unsigned>(ranks)),
                 late_us);
    late_barrier(part, static_cast<int>(random() % static_cast<unsigned>(ranks)), static_cast<long>(random() % 50));
    MPI_Barrier(part);
  }
  MPI_Comm_free(&part);
}

// Simulated ranks share their environment, so it changes while none is in a part.
void meet_with(const char* variable, const std::string& value, int ranks, unsigned seed, const Numbers& given) {
  setenv(variable, value.c_str(), 1);
  PMPI_Barrier(MPI_COMM_WORLD);
  meet(ranks, seed, given.at(3), given.at(4));
  PMPI_Barrier(MPI_COMM_WORLD);
  unsetenv(variable);
  PMPI_Barrier(MPI_COMM_WORLD);
}

// What CHIPLOG_BARRIER_ALGORITHM may be: all of the table, by 1 .. `most` peers where they take some.
std::vector<std::string> algorithms(int most) {
  std::vector<std::string> found;
  for (const chiplog::BarrierAlgorithm& one : chiplog::barrier_algorithms) {
    const std::string name(one.name);
    if (!one.takes_peers()) found.push_back(name);
    for (int peers = 1; one.takes_peers() && peers <= most; ++peers)
      found.push_back(name + ":" + std::to_string(peers));
  }
  return found;
}

// FIRST RANKS .. LAST RANKS, all algorithms by 1 .. PEERS and the default one by CHIPLOG_BARRIER_N, how late, how many
// late ranks.
void meet_all(const Numbers& given) {
  for (int ranks = given.at(0); ranks <= given.at(1); ++ranks) {
    for (int peers = 1; peers <= given.at(2); ++peers) {
      const auto seed = static_cast<unsigned>(1000 * ranks + peers);
      meet_with("CHIPLOG_BARRIER_N", std::to_string(peers), ranks, seed, given);
    }
#ifndef BROKEN_BARRIER
    for (const std::string& algorithm : algorithms(given.at(2))) {
      meet_with("CHIPLOG_BARRIER_ALGORITHM", algorithm, ranks, static_cast<unsigned>(ranks), given);
    }
#endif
  }
}

// By whatever the environment says: RANKS, how late, how many late ranks.
void meet_as_set(const Numbers& given) {
  meet(given.at(0), static_cast<unsigned>(given.at(0)), given.at(1), given.at(2));
}

void in_a_row(const Numbers& given) {
  for (int barrier = 0; barrier < given.at(0); ++barrier) MPI_Barrier(MPI_COMM_WORLD);
  late_barrier(MPI_COMM_WORLD, 0, 1000);
}

int open_files() {
  int count = 0;
  DIR* directory = opendir("/proc/self/fd");
  while (readdir(directory) != nullptr) ++count;
  closedir(directory);
  return count;
}

int mapped_regions() {
  int count = 0;
  std::FILE* maps = std::fopen("/proc/self/maps", "r");
  for (int letter = std::fgetc(maps); letter != EOF; letter = std::fgetc(maps)) count += letter == '\n' ? 1 : 0;
  std::fclose(maps);
  return count;
}

void made_and_freed(int count) {
  for (int number = 0; number < count; ++number) {
    MPI_Comm copy = MPI_COMM_NULL;
    MPI_Comm half = MPI_COMM_NULL;
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    MPI_Comm_split(copy, rank_in(copy) % 2, 0, &half);
    MPI_Barrier(copy);
    MPI_Barrier(half);
    MPI_Barrier(copy);
    MPI_Comm_free(&copy);
    MPI_Barrier(half);
    MPI_Comm_free(&half);
  }
}

void communicators_by_the_thousand(const Numbers& given) {
  made_and_freed(10);
  const int files = open_files();
  const int regions = mapped_regions();
  made_and_freed(given.at(0));
  require(open_files() <= files + 4, "no file is left open");
  require(mapped_regions() <= regions + 20, "no memory is left mapped");
  late_barrier(MPI_COMM_WORLD, 0, 1000);
}

long memory_pages() {
  long all = 0;
  long resident = 0;
  std::ifstream("/proc/self/statm") >> all >> resident;
  return resident;
}

using OnCommunicator = int (*)(MPI_Comm);

void cycle(int times, OnCommunicator barrier) {
  for (int number = 0; number < times; ++number) {
    MPI_Comm copy = MPI_COMM_NULL;
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    barrier(copy);
    MPI_Comm_free(&copy);
  }
}

// A communicator is made, meets and is freed: TIMES, after as many with the MPI's own barrier, which may need memory,
// too.
void cycles(const Numbers& given) {
  constexpr int to_begin_with = 200;
  constexpr long allowed_pages = 512;
  cycle(to_begin_with, MPI_Barrier);
  const long at_first = memory_pages();
  cycle(given.at(0), PMPI_Barrier);
  const long before = memory_pages();
  const int files = open_files();
  const int regions = mapped_regions();
  cycle(given.at(0), MPI_Barrier);
  const long of_mpi = before - at_first;
  require(memory_pages() - before <= of_mpi + allowed_pages, "memory does not grow");
  require(open_files() <= files, "no file and no socket is left open");
  require(mapped_regions() <= regions + 20, "no memory is left mapped");
  late_barrier(MPI_COMM_WORLD, 0, 1000);
}

// Each thread's first barrier is at the same time as the others'.
void threads(const Numbers& given) {
  std::vector<MPI_Comm> copies(static_cast<std::size_t>(given.at(0)));
  for (MPI_Comm& copy : copies) MPI_Comm_dup(MPI_COMM_WORLD, &copy);
  const auto work = [&](MPI_Comm copy) {
    for (int barrier = 0; barrier < given.at(1); ++barrier) MPI_Barrier(copy);
    for (int late = 0; late < ranks_in(copy); ++late) late_barrier(copy, late, 500);
  };
  {
    std::vector<std::jthread> running;
    for (MPI_Comm copy : copies) running.emplace_back(work, copy);
  }
  for (MPI_Comm& copy : copies) MPI_Comm_free(&copy);
}

#ifdef MPI_SESSION_NULL
bool serves_threads(MPI_Session session) {
  MPI_Info info = MPI_INFO_NULL;
  MPI_Session_get_info(session, &info);
  char level[64] = "";
  int length = sizeof level, found = 0;
  MPI_Info_get_string(info, "thread_level", &length, level, &found);
  MPI_Info_free(&info);
  return found != 0 && std::string(level) == "MPI_THREAD_MULTIPLE";
}

// Its threads may call the MPI at the same time, although MPI_Init has given no leave for that.
void session(const Numbers& given) {
  for (int barrier = 0; barrier < given.at(1); ++barrier) MPI_Barrier(MPI_COMM_WORLD);
  MPI_Info wanted = MPI_INFO_NULL;
  MPI_Info_create(&wanted);
  MPI_Info_set(wanted, "thread_level", "MPI_THREAD_MULTIPLE");
  MPI_Session own = MPI_SESSION_NULL;
  if (MPI_Session_init(wanted, MPI_ERRORS_RETURN, &own) != MPI_SUCCESS) return;
  MPI_Info_free(&wanted);
  MPI_Group all = MPI_GROUP_NULL;
  MPI_Group_from_session_pset(own, "mpi://WORLD", &all);
  std::vector<MPI_Comm> copies(static_cast<std::size_t>(given.at(0)));
  for (std::size_t i = 0; i < copies.size(); ++i) {
    MPI_Comm_create_from_group(all, std::to_string(i).c_str(), MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &copies[i]);
  }
  const auto work = [&](MPI_Comm copy) {
    for (int barrier = 0; barrier < given.at(1); ++barrier) MPI_Barrier(copy);
  };
  const bool at_once = serves_threads(own);
  std::vector<std::thread> running;
  for (MPI_Comm copy : copies) {
    running.emplace_back(work, copy);
    if (!at_once) running.back().join();
  }
  for (std::thread& thread : running) {
    if (thread.joinable()) thread.join();
  }
  for (int barrier = 0; barrier < given.at(1); ++barrier) MPI_Barrier(MPI_COMM_WORLD);
  for (MPI_Comm& copy : copies) MPI_Comm_free(&copy);
  MPI_Group_free(&all);
  MPI_Session_finalize(&own);
}
#else
void session(const Numbers&) {}
#endif

int handled = 0;
void handle(MPI_Comm*, int*, ...) { ++handled; }

int copied = 0;
int count_copy(MPI_Comm, int, void*, void*, void*, int* flag) {
  ++copied;
  *flag = 0;
  return MPI_SUCCESS;
}

void error_handlers_and_attributes(MPI_Comm copy) {
  MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
  MPI_Comm_create_errhandler(handle, &handler);
  MPI_Comm_set_errhandler(copy, handler);
  int keyval = MPI_KEYVAL_INVALID;
  MPI_Comm_create_keyval(count_copy, MPI_COMM_NULL_DELETE_FN, &keyval, nullptr);
  MPI_Comm_set_attr(copy, keyval, nullptr);
  MPI_Barrier(copy);
  MPI_Barrier(copy);
  require(copied == 0, "the program's attributes are not copied");
  require(handled == 0, "a barrier is no error");
  MPI_Send(nullptr, 0, MPI_BYTE, 1000000, 0, copy);
  require(handled == 1, "the program's error handler is still in place");
  MPI_Comm_free_keyval(&keyval);
  MPI_Errhandler_free(&handler);
}

// The ranks that are left out go on to MPI_Finalize, some before the others look for each other.
void cartesian_communicator_of_some_ranks(const Numbers& given) {
  const int dimensions[1] = {ranks_in(MPI_COMM_WORLD) - 1};
  const int periodic[1] = {1};
  MPI_Comm ring = MPI_COMM_NULL;
  MPI_Cart_create(MPI_COMM_WORLD, 1, dimensions, periodic, 0, &ring);
  if (ring == MPI_COMM_NULL) return;
  for (long barrier = 0; barrier < given.at(0); ++barrier) MPI_Barrier(ring);
  MPI_Comm_free(&ring);
}

// In MPICH a duplicate follows MPI_COMM_WORLD's handler as it is at the time of the error, before and after barriers;
// elsewhere its error ends the program.
void inherited_handlers(const Numbers& given) {
  MPI_Comm copies[2] = {MPI_COMM_NULL, MPI_COMM_NULL};
  MPI_Comm_dup(MPI_COMM_WORLD, &copies[0]);
  for (long barrier = 0; barrier < given.at(0); ++barrier) {
    MPI_Barrier(copies[0]);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  MPI_Comm_dup(MPI_COMM_WORLD, &copies[1]);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  for (MPI_Comm& copy : copies) {
    require(MPI_Send(nullptr, 0, MPI_BYTE, 1000000, 0, copy) != MPI_SUCCESS, "there is no such rank");
    MPI_Comm_free(&copy);
  }
}

void no_message_of_the_programs_is_matched(MPI_Comm copy) {
  const int other = (rank_in(copy) + 1) % ranks_in(copy);
  int sent = 7;
  int received = 0;
  MPI_Request requests[2];
  MPI_Irecv(&received, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, copy, &requests[0]);
  MPI_Barrier(copy);
  MPI_Isend(&sent, 1, MPI_INT, other, 0, copy, &requests[1]);
  MPI_Barrier(copy);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  require(received == 7, "a message arrives where it was sent");
}

void intercommunicator() {
  MPI_Comm half = MPI_COMM_NULL;
  MPI_Comm between = MPI_COMM_NULL;
  const int side = rank_in(MPI_COMM_WORLD) % 2;
  MPI_Comm_split(MPI_COMM_WORLD, side, 0, &half);
  MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - side, 0, &between);
  for (int barrier = 0; barrier < 3; ++barrier) MPI_Barrier(between);
  MPI_Comm_free(&between);
  MPI_Comm_free(&half);
}

void kinds(const Numbers&) {
  MPI_Barrier(MPI_COMM_SELF);
  intercommunicator();
  MPI_Comm copy = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &copy);
  error_handlers_and_attributes(copy);
  no_message_of_the_programs_is_matched(copy);
  MPI_Comm_free(&copy);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  require(MPI_Barrier(MPI_COMM_NULL) != MPI_SUCCESS, "no communicator is an error");
}

// A rank in the barrier must help others that aren't: with a message that is too long to be sent without its help, and
// with access to its memory.
void pending_work(const Numbers& given) {
  const int rank = rank_in(MPI_COMM_WORLD);
  std::vector<char> data(static_cast<std::size_t>(given.at(0)));
  int* counter = nullptr;
  MPI_Win window = MPI_WIN_NULL;
  MPI_Win_allocate(sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &counter, &window);
  *counter = 0;
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Request request = MPI_REQUEST_NULL;
  if (rank == 0) {
    MPI_Isend(data.data(), given.at(0), MPI_CHAR, 1, 0, MPI_COMM_WORLD, &request);
  } else if (rank == 1) {
    sleep_us(20000);
    MPI_Recv(data.data(), given.at(0), MPI_CHAR, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    const int one = 1;
    MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, window);
    MPI_Accumulate(&one, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_SUM, window);
    MPI_Win_unlock(0, window);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, window);
  require(rank != 0 || *counter == 1, "the other's accumulate has arrived");
  MPI_Win_unlock(rank, window);
  MPI_Win_free(&window);
}

void meet_often(MPI_Comm communicator, int times) {
  for (int time = 0; time < times; ++time) MPI_Barrier(communicator);
}

// Around a call of MPI_Comm_idup before which only some ranks have met in a barrier. Rank 0 says whether the barriers
// soon after it were soon.
void pending_numbers(const Numbers& given) {
  const int times = given.at(0);
  const int rank = rank_in(MPI_COMM_WORLD);
  MPI_Comm part = MPI_COMM_NULL;
  MPI_Comm made = MPI_COMM_NULL;
  MPI_Comm copy = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, rank < 2 ? 0 : MPI_UNDEFINED, 0, &part);
  if (part != MPI_COMM_NULL) {
    meet_often(part, times);
    MPI_Comm_free(&part);
  }
  const double begun = now_seconds();
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Comm_idup(MPI_COMM_WORLD, &made, &request);
  meet_often(MPI_COMM_WORLD, times);
  MPI_Comm_dup(MPI_COMM_WORLD, &copy);
  meet_often(copy, times);
  const bool is_soon = now_seconds() - begun < 0.9;
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  sleep_us(1'100'000);
  meet_often(MPI_COMM_WORLD, 5 * times);
  for (int late = 0; late < ranks_in(MPI_COMM_WORLD); ++late) late_barrier(MPI_COMM_WORLD, late, 1000);
  meet_often(made, times);
  MPI_Comm_free(&made);
  MPI_Comm_free(&copy);
  if (rank == 0 && is_soon) std::puts("soon");
}

// {how often, ranks, bytes a message, barriers of a communicator}: it is freed while messages are under way there. Some
// MPIs delete its attributes when the last of these is done, in whichever call that is.
void freed_under_way(const Numbers& given) {
  const int ranks = given[1];
  const auto bytes = static_cast<std::size_t>(given[2]);
  const int next = (rank_in(MPI_COMM_WORLD) + 1) % ranks;
  const int last = (rank_in(MPI_COMM_WORLD) + ranks - 1) % ranks;
  std::vector<char> sent(bytes, 'x');
  std::vector<char> received(bytes);
  std::vector<char> buffer(bytes + MPI_BSEND_OVERHEAD);
  enum Kind { plain, buffered, persistent, kinds };
  for (int time = 0; time < given[0]; ++time) {
    MPI_Comm copy = MPI_COMM_NULL;
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    for (int barrier = 0; barrier < given[3]; ++barrier) MPI_Barrier(copy);
    MPI_Request requests[2];
    const int kind = time % kinds;
    if (kind == persistent) {
      MPI_Recv_init(received.data(), given[2], MPI_CHAR, last, time, copy, &requests[0]);
      MPI_Send_init(sent.data(), given[2], MPI_CHAR, next, time, copy, &requests[1]);
      MPI_Startall(2, requests);
    } else {
      MPI_Irecv(received.data(), given[2], MPI_CHAR, last, time, copy, &requests[0]);
      if (kind == buffered) MPI_Buffer_attach(buffer.data(), static_cast<int>(buffer.size()));
      (kind == buffered ? MPI_Ibsend : MPI_Isend)(sent.data(), given[2], MPI_CHAR, next, time, copy, &requests[1]);
    }
    MPI_Comm_free(&copy);
    if (kind == buffered) {
      MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
      void* detached = nullptr;
      int size = 0;
      MPI_Buffer_detach(&detached, &size);
    }
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    if (kind == persistent) {
      MPI_Request_free(&requests[0]);
      MPI_Request_free(&requests[1]);
    }
    require(received == sent, "the message arrives");
  }
  meet(ranks, 1, 200, 2);
}

void one_dies(const Numbers&) {
  for (int barrier = 0; barrier < 10; ++barrier) MPI_Barrier(MPI_COMM_WORLD);
  if (rank_in(MPI_COMM_WORLD) == ranks_in(MPI_COMM_WORLD) - 1) raise(SIGKILL);
  MPI_Barrier(MPI_COMM_WORLD);
}

// The others outlive it: their next barrier ends, with an error.
void one_dies_and_others_go_on(const Numbers&) {
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  for (int barrier = 0; barrier < 10; ++barrier) MPI_Barrier(MPI_COMM_WORLD);
  if (rank_in(MPI_COMM_WORLD) == ranks_in(MPI_COMM_WORLD) - 1) raise(SIGKILL);
  if (MPI_Barrier(MPI_COMM_WORLD) == MPI_SUCCESS) return;
  if (rank_in(MPI_COMM_WORLD) == 0) std::printf("a rank died ok\n");
  std::fflush(stdout);
  sleep_us(1000000);  // the others' output, too, before the job ends
  std::_Exit(0);      // to finalise after a death may take for ever
}

// A callback of the program's that is called while a communicator is freed, and meets the others there once more.
// Before that it frees a communicator of its own.
int barrier_while_freed(MPI_Comm communicator, int, void* own, void*) {
  MPI_Comm_free(static_cast<MPI_Comm*>(own));
  return MPI_Barrier(communicator);
}

// Handles are used again, other ones on each rank: what belonged to a communicator may not be taken for another one's.
void late_callbacks(const Numbers& given) {
  int keyval = MPI_KEYVAL_INVALID;
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, barrier_while_freed, &keyval, nullptr);
  for (int number = 0; number < given.at(0); ++number) {
    MPI_Comm part = MPI_COMM_NULL;
    const int colour = (rank_in(MPI_COMM_WORLD) + number) % 2;  // not the same ranks as before
    MPI_Comm alone = MPI_COMM_NULL;
    if (colour == 0) MPI_Comm_dup(MPI_COMM_SELF, &alone);
    MPI_Comm_split(MPI_COMM_WORLD, number % 3 == 0 ? 0 : colour, 0, &part);
    MPI_Comm inner = MPI_COMM_NULL;
    MPI_Comm_dup(part, &inner);
    MPI_Comm_set_attr(part, keyval, &inner);
    for (int barrier = 0; barrier < given.at(1); ++barrier) MPI_Barrier(part);
    if (alone != MPI_COMM_NULL) MPI_Comm_free(&alone);
    MPI_Comm_free(&part);
  }
  MPI_Comm_free_keyval(&keyval);
  late_barrier(MPI_COMM_WORLD, 0, 1000);
}

MPI_Comm met_last = MPI_COMM_NULL;
int barrier_at_the_end(MPI_Comm, int, void*, void*) { return MPI_Barrier(met_last); }

// MPI_Finalize calls the program's callback: half of the ranks have had a barrier of their own before, the others not.
void callback_of_finalize(const Numbers& given) {
  int keyval = MPI_KEYVAL_INVALID;
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, barrier_at_the_end, &keyval, nullptr);
  MPI_Comm_set_attr(MPI_COMM_SELF, keyval, nullptr);
  MPI_Comm half = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, rank_in(MPI_COMM_WORLD) % 2, 0, &half);
  MPI_Comm_dup(MPI_COMM_WORLD, &met_last);
  for (int barrier = 0; barrier < given.at(0); ++barrier) MPI_Barrier(met_last);
  if (rank_in(MPI_COMM_WORLD) % 2 == 0) MPI_Barrier(half);
}

// Children without the library, merged with their parents.
void spawned_without_it(const Numbers& given) {
  MPI_Comm between = MPI_COMM_NULL;
  MPI_Comm merged = MPI_COMM_NULL;
  MPI_Comm_get_parent(&between);
  const bool is_child = between != MPI_COMM_NULL;
  if (!is_child) {
    std::string program(4096, '\0');
    program.resize(static_cast<std::size_t>(readlink("/proc/self/exe", program.data(), program.size())));
    std::string option = "-u";
    std::string variable = "LD_PRELOAD";
    std::string name = "spawned";
    std::string barriers = std::to_string(given.at(0));
    char* arguments[] = {option.data(), variable.data(), program.data(), name.data(), barriers.data(), nullptr};
    MPI_Comm_spawn("/usr/bin/env", arguments, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &between, MPI_ERRCODES_IGNORE);
  }
  MPI_Intercomm_merge(between, is_child ? 1 : 0, &merged);
  for (int barrier = 0; barrier < given.at(0); ++barrier) MPI_Barrier(merged);
  for (int late = 0; late < ranks_in(merged); ++late) late_barrier(merged, late, 500);
  for (int barrier = 0; barrier < given.at(0); ++barrier) MPI_Barrier(MPI_COMM_WORLD);
  MPI_Comm_free(&merged);
  MPI_Comm_disconnect(&between);
}

// A barrier on a handle that is not valid any more is one error.
void freed_handle(const Numbers& given) {
  MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
  MPI_Comm_create_errhandler(handle, &handler);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, handler);
  MPI_Comm copy = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &copy);
  for (int barrier = 0; barrier < given.at(0); ++barrier) MPI_Barrier(copy);
  const MPI_Comm stale = copy;
  MPI_Comm_free(&copy);
  require(MPI_Barrier(stale) != MPI_SUCCESS, "a freed handle is an error");
  require(handled == 1, "the handler is called once");
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
}

// Threads make communicators of groups that overlap, and meet in them at once.
void overlapping(const Numbers& given) {
  const int thread_count = given.at(0);
  const auto work = [&](int thread) {
    MPI_Group world = MPI_GROUP_NULL;
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    const int ranks = ranks_in(MPI_COMM_WORLD);
    for (int number = 0; number < given.at(1); ++number) {
      const int left_out = ranks > 2 && (number + thread) % 2 == 0 ? (number + thread) % ranks : MPI_UNDEFINED;
      if (left_out == rank_in(MPI_COMM_WORLD)) continue;
      MPI_Group group = MPI_GROUP_NULL;
      MPI_Comm made = MPI_COMM_NULL;
      MPI_Group_excl(world, left_out == MPI_UNDEFINED ? 0 : 1, &left_out, &group);
      MPI_Comm_create_group(MPI_COMM_WORLD, group, thread, &made);
      for (int barrier = 0; barrier < given.at(2); ++barrier) MPI_Barrier(made);
      MPI_Comm_free(&made);
      MPI_Group_free(&group);
    }
    MPI_Group_free(&world);
  };
  std::vector<std::jthread> running;
  for (int thread = 0; thread < thread_count; ++thread) running.emplace_back(work, thread);
}

const std::map<std::string, std::function<void(const Numbers&)>> cases = {
    {"meet", meet_all},
    {"meet-as-set", meet_as_set},
    {"in-a-row", in_a_row},
    {"communicators", communicators_by_the_thousand},
    {"cycles", cycles},
    {"threads", threads},
    {"session", session},
    {"kinds", kinds},
    {"inherited-handlers", inherited_handlers},
    {"some-ranks", cartesian_communicator_of_some_ranks},
    {"pending-work", pending_work},
    {"pending-numbers", pending_numbers},
    {"freed-under-way", freed_under_way},
    {"dies", one_dies},
    {"outlived", one_dies_and_others_go_on},
    {"late-callbacks", late_callbacks},
    {"finalize-callback", callback_of_finalize},
    {"spawned", spawned_without_it},
    {"freed-handle", freed_handle},
    {"overlapping", overlapping},
};

}  // namespace

#ifdef BROKEN_BARRIER
extern "C" int MPI_Barrier(MPI_Comm communicator) {
  const int ranks = ranks_in(communicator);
  const int rank = rank_in(communicator);
  std::vector<std::vector<int>> rounds = chiplog::dissemination_steps(ranks, std::atoi(getenv("CHIPLOG_BARRIER_N")));
  if (ranks > 1) rounds.back().pop_back();
  for (const std::vector<int>& steps : rounds) {
    std::vector<MPI_Request> requests;
    for (const int step : steps) {
      MPI_Irecv(nullptr, 0, MPI_BYTE, (rank - step + ranks) % ranks, 99, communicator, &requests.emplace_back());
      MPI_Isend(nullptr, 0, MPI_BYTE, (rank + step) % ranks, 99, communicator, &requests.emplace_back());
    }
    MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
  }
  return MPI_SUCCESS;
}
#endif

int main(int argc, char** argv) {
  const std::string name = argc > 1 ? argv[1] : "";
  const auto chosen = cases.find(name);
  if (chosen == cases.end()) return 2;
  int provided = MPI_THREAD_SINGLE;
  const bool has_threads = name == "threads" || name == "overlapping" || name == "freed-under-way";
  MPI_Init_thread(&argc, &argv, has_threads ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &provided);
  if (has_threads) require(provided == MPI_THREAD_MULTIPLE, "this MPI serves many threads");
  Numbers numbers;
  for (int argument = 2; argument < argc; ++argument) numbers.push_back(std::atoi(argv[argument]));
  chosen->second(numbers);
  PMPI_Barrier(MPI_COMM_WORLD);
  if (rank_in(MPI_COMM_WORLD) == 0) std::printf("%s ok\n", name.c_str());
  MPI_Finalize();
  return 0;
}
