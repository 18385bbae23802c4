// A program drawn at random: random_program SEED STEPS. Its ranks make, use and free communicators in many ways, and
// each barrier is checked: nobody may leave before all members have entered. Rank 0 prints "SEED ok"; else the program
// ends with 1, or never.
//
// All ranks draw the same steps. Communicators are in slots; after a split, a slot has another communicator on each
// group of ranks, and none on ranks that belong to no group. These sit such steps out.
#include <mpi.h>
#include <time.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <numeric>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace {

constexpr int slot_count = 8;
constexpr int tag = 5;

void require(bool fact, const char* what) {
  if (fact) return;
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  std::fprintf(stderr, "rank %d: not so: %s\n", rank, what);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

// What each rank has entered last in each slot, in memory of all ranks; null at the end.
using Entered = std::atomic<std::uint64_t>;
Entered* entered = nullptr;
constexpr int row = slot_count + 1;  // and one that lives for a step
Entered& entered_by(int world_rank, int slot) { return entered[world_rank * row + slot]; }

struct Slot {
  MPI_Comm communicator = MPI_COMM_NULL;
  bool is_used = false;  // on some rank
  int number = 0;        // of this slot
  int rank = 0;
  int ranks = 0;
  std::vector<int> members;  // ranks of MPI_COMM_WORLD
  std::uint64_t turn = 0;    // grows with each barrier, and by much with each communicator of this slot
};
std::array<Slot, slot_count> slots;
int world_rank = 0;
int world_ranks = 0;
std::uint64_t serial = 0;  // of this step

// Draws are the same on all ranks but `own`.
std::mt19937 shared_draws;
std::minstd_rand own_draws;
int draw(int below) { return static_cast<int>(shared_draws() % static_cast<unsigned>(below)); }
bool is_drawn() { return draw(2) == 0; }

void sleep_us(long us) {
  const timespec wanted{0, us * 1000};
  nanosleep(&wanted, nullptr);
}

void enter_a_barrier(Slot& slot) {
  const std::uint64_t turn = ++slot.turn;
  if (entered == nullptr) return require(MPI_Barrier(slot.communicator) == MPI_SUCCESS, "a late barrier ends well");
  entered_by(world_rank, slot.number).store(turn);
  require(MPI_Barrier(slot.communicator) == MPI_SUCCESS, "a barrier ends well");
  for (const int member : slot.members) {
    require(entered_by(member, slot.number).load() >= turn, "all have entered a barrier before anybody leaves");
  }
}

void fill(Slot& slot, MPI_Comm made) {
  slot.is_used = true;
  slot.communicator = made;
  slot.turn = serial << 32U;
  if (made == MPI_COMM_NULL) return;
  MPI_Group all = MPI_GROUP_NULL;
  MPI_Group own = MPI_GROUP_NULL;
  MPI_Comm_group(MPI_COMM_WORLD, &all);
  MPI_Comm_group(made, &own);
  MPI_Comm_rank(made, &slot.rank);
  MPI_Comm_size(made, &slot.ranks);
  std::vector<int> ranks(static_cast<std::size_t>(slot.ranks));
  slot.members.resize(ranks.size());
  std::iota(ranks.begin(), ranks.end(), 0);
  MPI_Group_translate_ranks(own, slot.ranks, ranks.data(), all, slot.members.data());
  MPI_Group_free(&own);
  MPI_Group_free(&all);
}

// Barriers of a communicator that is about to go: the program's callback is called while it is freed.
int barrier_while_freed(MPI_Comm, int, void* slot, void*) {
  enter_a_barrier(*static_cast<Slot*>(slot));
  return MPI_SUCCESS;
}
int callback = MPI_KEYVAL_INVALID;

// Makers of communicators: of a slot's communicator. All draw alike, whether they are members or not.

MPI_Comm copy(const Slot& slot) {
  MPI_Comm made = MPI_COMM_NULL;
  MPI_Comm_dup(slot.communicator, &made);
  return made;
}

MPI_Comm copy_later(const Slot& slot) {
  MPI_Comm made = MPI_COMM_NULL;
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Comm_idup(slot.communicator, &made, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  return made;
}

MPI_Comm split(const Slot& slot, int colours, bool backwards, int without) {
  MPI_Comm made = MPI_COMM_NULL;
  const int colour = slot.rank % colours == without ? MPI_UNDEFINED : slot.rank % colours;
  MPI_Comm_split(slot.communicator, colour, backwards ? -slot.rank : slot.rank, &made);
  return made;
}

MPI_Comm ranks_of_node(const Slot& slot) {
  MPI_Comm made = MPI_COMM_NULL;
  MPI_Comm_split_type(slot.communicator, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &made);
  return made;
}

MPI_Comm of_group(const Slot& slot, int left_out, bool is_collective) {
  MPI_Group all = MPI_GROUP_NULL;
  MPI_Group some = MPI_GROUP_NULL;
  MPI_Comm made = MPI_COMM_NULL;
  left_out %= slot.ranks;
  MPI_Comm_group(slot.communicator, &all);
  MPI_Group_excl(all, slot.ranks > 1 ? 1 : 0, &left_out, &some);
  if (is_collective) {
    MPI_Comm_create(slot.communicator, some, &made);
  } else if (slot.ranks == 1 || slot.rank != left_out) {
    MPI_Comm_create_group(slot.communicator, some, tag, &made);
  }
  MPI_Group_free(&some);
  MPI_Group_free(&all);
  return made;
}

MPI_Comm ring_of(const Slot& slot) {
  MPI_Comm made = MPI_COMM_NULL;
  const int sizes[] = {slot.ranks};
  const int is_closed[] = {1};
  MPI_Cart_create(slot.communicator, 1, sizes, is_closed, 1, &made);
  return made;
}

// Two halves meet as an intercommunicator, and become one again.
MPI_Comm merged(const Slot& slot, int barriers, bool backwards) {
  if (slot.ranks < 2) return copy(slot);
  const bool is_low = slot.rank < slot.ranks / 2;
  MPI_Comm half = MPI_COMM_NULL;
  MPI_Comm halves = MPI_COMM_NULL;
  MPI_Comm made = MPI_COMM_NULL;
  MPI_Comm_split(slot.communicator, is_low ? 0 : 1, 0, &half);
  MPI_Intercomm_create(half, 0, slot.communicator, is_low ? slot.ranks / 2 : 0, tag, &halves);
  for (int barrier = 0; barrier < barriers; ++barrier) MPI_Barrier(halves);
  MPI_Intercomm_merge(halves, is_low == backwards ? 1 : 0, &made);
  MPI_Comm_free(&half);
  MPI_Comm_free(&halves);
  return made;
}

MPI_Comm make(const Slot& slot) {
  const int way = draw(9);
  const int number = draw(3);
  const bool backwards = is_drawn();
  const int other = draw(world_ranks);
  if (slot.communicator == MPI_COMM_NULL) return MPI_COMM_NULL;
  switch (way) {
    case 0:
      return copy_later(slot);
    case 1:
      return split(slot, number + 1, backwards, number == 2 ? 1 : -1);
    case 2:
      return ranks_of_node(slot);
    case 3:
      return of_group(slot, other, true);
    case 4:
      return of_group(slot, other, false);
    case 5:
      return ring_of(slot);
    case 6:
      return merged(slot, 2 * number, backwards);
    default:
      return copy(slot);
  }
}

// What a communicator's barriers meet with.

void meet(Slot& slot, int barriers) {
  if (own_draws() % 4 == 0) sleep_us(static_cast<long>(own_draws() % 300));
  for (int barrier = 0; barrier < barriers; ++barrier) enter_a_barrier(slot);
}

// A message to the next rank that is under way during barriers, or while the communicator is freed.
class RingOfMessages {
 public:
  RingOfMessages(const Slot& slot, int bytes)
      : sent_(static_cast<std::size_t>(bytes), 'x'), received_(static_cast<std::size_t>(bytes)) {
    const int next = (slot.rank + 1) % slot.ranks;
    const int last = (slot.rank + slot.ranks - 1) % slot.ranks;
    MPI_Irecv(received_.data(), bytes, MPI_CHAR, last, tag, slot.communicator, &requests_[0]);
    MPI_Isend(sent_.data(), bytes, MPI_CHAR, next, tag, slot.communicator, &requests_[1]);
  }
  void end() {
    MPI_Waitall(2, requests_.data(), MPI_STATUSES_IGNORE);
    require(received_ == sent_, "a message arrives");
  }

 private:
  std::vector<char> sent_;
  std::vector<char> received_;
  std::array<MPI_Request, 2> requests_{};
};

// Some ranks wait for theirs before the barriers, so those that are there already must help.
void meet_with_messages(Slot& slot, int barriers, int bytes, bool some_end_before) {
  RingOfMessages messages(slot, bytes);
  const bool ends_before = some_end_before && slot.rank % 2 == 1;
  if (ends_before) messages.end();
  meet(slot, barriers);
  if (!ends_before) messages.end();
}

void meet_with_collectives(Slot& slot, int barriers) {
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Ibarrier(slot.communicator, &request);
  meet(slot, barriers);
  int sum = 0;
  MPI_Allreduce(&slot.rank, &sum, 1, MPI_INT, MPI_SUM, slot.communicator);
  require(sum == slot.ranks * (slot.ranks - 1) / 2, "ranks are summed");
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  PMPI_Barrier(slot.communicator);
}

// Memory of the next rank's is written before a barrier, and read by it after. Of all ranks: in Open MPI 4.1, windows
// of communicators that have no rank in common get in each other's way.
void meet_with_windows(Slot& slot, int barriers) {
  if (slot.ranks < world_ranks) return;
  constexpr int page = 4096;  // MPICH 4.0 puts smaller windows in wrong places
  volatile int* own = nullptr;
  MPI_Win window = MPI_WIN_NULL;
  MPI_Win_allocate(page, sizeof(int), MPI_INFO_NULL, slot.communicator, &own, &window);
  *own = -1;
  MPI_Win_lock_all(0, window);
  MPI_Win_sync(window);
  meet(slot, 1);
  const int next = (slot.rank + 1) % slot.ranks;
  MPI_Put(&slot.rank, 1, MPI_INT, next, 0, 1, MPI_INT, window);
  MPI_Win_flush(next, window);
  meet(slot, barriers);
  MPI_Win_sync(window);
  require(*own == (slot.rank + slot.ranks - 1) % slot.ranks, "the other's put has arrived");
  MPI_Win_unlock_all(window);
  MPI_Win_free(&window);
}

void release(Slot& slot, bool disconnects, int bytes) {
  slot.is_used = false;
  if (slot.communicator == MPI_COMM_NULL) return;
  RingOfMessages messages(slot, bytes);
  if (disconnects) messages.end();
  (disconnects ? MPI_Comm_disconnect : MPI_Comm_free)(&slot.communicator);
  if (!disconnects) messages.end();
  slot.communicator = MPI_COMM_NULL;
}

// Without messages: else some MPIs call back whenever the last of them ends.
void meet_while_it_is_freed(const Slot& slot, int barriers, bool attribute_is_first) {
  Slot short_lived;
  short_lived.number = slot_count;
  fill(short_lived, copy(slot));
  if (attribute_is_first) MPI_Comm_set_attr(short_lived.communicator, callback, &short_lived);
  meet(short_lived, barriers);
  if (!attribute_is_first) MPI_Comm_set_attr(short_lived.communicator, callback, &short_lived);
  MPI_Comm_free(&short_lived.communicator);
}

// Threads meet at once, each in another slot, and make communicators there.
void meet_in_threads(int barriers) {
  const auto work = [barriers](Slot& slot) {
    for (int barrier = 0; barrier < barriers; ++barrier) enter_a_barrier(slot);
    MPI_Comm made = copy(slot);
    for (int barrier = 0; barrier < barriers; ++barrier) MPI_Barrier(made);
    MPI_Comm_free(&made);
  };
  std::vector<std::jthread> running;
  for (Slot& slot : slots) {
    if (slot.communicator != MPI_COMM_NULL) running.emplace_back(work, std::ref(slot));
  }
}

Slot& used_slot() {
  Slot* found = nullptr;
  while (found == nullptr || !found->is_used) found = &slots[static_cast<std::size_t>(draw(slot_count))];
  return *found;
}

void step(bool has_threads) {
  ++serial;
  constexpr std::array repetitions = {1, 2, 3, 5, 10, 40};
  constexpr std::array sizes = {8, 3000, 300000};
  Slot& slot = used_slot();
  Slot& target = slots[static_cast<std::size_t>(draw(slot_count))];
  const int what = draw(14);
  const int barriers = repetitions[static_cast<std::size_t>(draw(repetitions.size()))];
  const int bytes = sizes[static_cast<std::size_t>(draw(sizes.size()))];
  const bool disconnects = draw(4) == 0;
  const bool is_either = is_drawn();
  const bool is_member = slot.communicator != MPI_COMM_NULL;
  if (what < 5) {
    if (&target == &slots[0] || &target == &slot) return;
    if (target.is_used) release(target, disconnects, bytes);
    fill(target, make(slot));
  } else if (what == 5) {
    if (&slot != &slots[0]) release(slot, disconnects, bytes);
  } else if (what == 6 && has_threads) {
    meet_in_threads(barriers);
  } else if (is_member) {
    switch (what) {
      case 7:
        return meet_with_messages(slot, barriers, bytes, is_either);
      case 8:
        return meet_with_collectives(slot, barriers);
      case 9:
        return meet_with_windows(slot, barriers);
      default:
        return meet(slot, barriers);
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  shared_draws.seed(static_cast<unsigned>(std::atoi(argv[1])));
  const bool has_threads = is_drawn();
  int provided = MPI_THREAD_SINGLE;
  if (has_threads) {
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    require(provided == MPI_THREAD_MULTIPLE, "this MPI serves many threads");
  } else {
    MPI_Init(&argc, &argv);
  }
  MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
  MPI_Comm_size(MPI_COMM_WORLD, &world_ranks);
  own_draws.seed(static_cast<unsigned>(std::atoi(argv[1]) + world_rank));
  MPI_Win window = MPI_WIN_NULL;
  const MPI_Aint own_bytes = world_rank == 0 ? world_ranks * row * static_cast<MPI_Aint>(sizeof(Entered)) : 0;
  MPI_Win_allocate_shared(own_bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &entered, &window);
  MPI_Aint bytes = 0;
  int unit = 0;
  MPI_Win_shared_query(window, 0, &bytes, &unit, &entered);
  for (int slot = 0; slot < slot_count; ++slot) {
    slots[static_cast<std::size_t>(slot)].number = slot;
    entered_by(world_rank, slot).store(0);
  }
  PMPI_Barrier(MPI_COMM_WORLD);
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, barrier_while_freed, &callback, nullptr);
  fill(slots[0], MPI_COMM_WORLD);
  if (is_drawn()) MPI_Comm_set_attr(MPI_COMM_SELF, callback, &slots[0]);  // a barrier in MPI_Finalize
  for (int number = 0; number < std::atoi(argv[2]); ++number) step(has_threads);
  for (Slot& slot : slots) {
    if (&slot != &slots[0] && slot.is_used && is_drawn()) release(slot, false, 1);
  }
  PMPI_Barrier(MPI_COMM_WORLD);
  if (world_rank == 0) std::printf("%s ok\n", argv[1]);
  MPI_Win_free(&window);
  entered = nullptr;
  MPI_Finalize();
  return 0;
}
