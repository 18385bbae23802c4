#include "collectives/mpi/registry.hpp"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "collectives/mpi/progress.hpp"
#include "collectives/mpi/set_up.hpp"
#include "collectives/mpi/world.hpp"
#include "collectives/settings.hpp"
#include "collectives/short_lock.hpp"
#include "collectives/tuning.hpp"

namespace chiplog::collectives {

namespace {

// process_pair holds these flags while it serves no communicator. A program may pass an invalid handle that equals the
// one that process_pair holds then. Nobody announces a barrier at these flags, so the call goes on to the MPI, which
// reports the error. MPI_Barrier needs no test of its own for that.
AlternatingFlag nobodys_own;
const AlternatingFlag nobodys_other;
constexpr ProcessPair no_pair{{}, {0, &nobodys_own, &nobodys_other}, nullptr};

}  // namespace

constinit ProcessPair process_pair = no_pair;
constinit Recent process_recent;
constinit std::atomic<std::uint64_t> changes_so_far{0};
constinit std::atomic<Callers> callers{Callers::unknown};
#ifndef CHIPLOG_SMPI
thread_local constinit Recent thread_recent;
#endif

namespace {

using Entry = Communicators::Entry;

enum class Phase { before, open, closed };

std::atomic<Phase> phase{Phase::before};

// All that `open` makes.
std::mutex opening;
std::unique_ptr<World> world;
int keyval = MPI_KEYVAL_INVALID;
int barriers_before = 0;  // the setting: known here it costs a communicator less

// To end a barrier takes calls of the MPI, which must not come while a program ends that has not finalised it.
union NeverEnded {
  constexpr NeverEnded() : value() {}
  constexpr ~NeverEnded() {}  // NOLINT(modernize-use-equals-default): a default one would end `value`
  Communicators value;
};
constinit NeverEnded never_ended;

constinit ShortLock lock_of_communicators;
Communicators& communicators = never_ended.value;
std::vector<std::unique_ptr<Barrier>> retired;  // of communicators that are gone
std::atomic<bool> any_retired{false};

// Of the communicator that this thread is freeing; the program's callbacks may call barriers meanwhile.
#ifndef CHIPLOG_SMPI
[[gnu::tls_model("initial-exec")]]
#endif
thread_local constinit MPI_Comm being_freed = MPI_COMM_NULL;

// How many more of the MPI's own barriers come where a set-up is not for now; the same on all ranks.
int barriers_until_asked_again() {
  constexpr int least = 32;  // what asking costs is little then
  return std::max(least, barriers_before);
}

bool mpi_is_up() {
  int initialised = 0;
  int finalised = 0;
  PMPI_Initialized(&initialised);
  if (initialised != 0) PMPI_Finalized(&finalised);
  return initialised != 0 && finalised == 0;
}

void give_back_pair() {
  if (process_pair.barrier != nullptr) process_pair.barrier->take_back(process_pair.flags);
  process_pair = no_pair;
}

// What threads remember of communicators holds no more. A barrier that is lent still lives.
void announce_change() {
  changes_so_far.fetch_add(1, std::memory_order_relaxed);
  if (is_one_thread()) give_back_pair();
}

// To end a barrier takes calls of the MPI, and `forget` may be called where there must be none.
void end_retired() {
  if (!any_retired.load(std::memory_order_relaxed)) return;
  std::vector<std::unique_ptr<Barrier>> ended;  // without the lock: the calls may lead to `forget`
  const std::lock_guard lock(lock_of_communicators);
  ended.swap(retired);
  any_retired.store(false, std::memory_order_relaxed);
}

// Call it with the lock held. Tells whether there was a barrier to retire.
bool retire(Entry& entry) {
  if (entry.barrier == nullptr) return false;
  retired.push_back(std::move(entry.barrier));
  any_retired.store(true, std::memory_order_relaxed);
  return true;
}

// Its communicator is gone.
void remove(Entry& entry) {
  const std::lock_guard lock(lock_of_communicators);
  retire(entry);
  communicators.remove(entry);
  announce_change();
}

// Whether it was served by a barrier of the library's.
bool leave_to_mpi(MPI_Comm communicator) {
  const std::lock_guard lock(lock_of_communicators);
  Entry* const entry = communicators.find(communicator);
  if (entry == nullptr || !retire(*entry)) return false;
  announce_change();
  return true;
}

// The MPI's own barriers take in the messages that were sent before them; the library's look at memory only. MPICH 5
// names the messages that nobody has received when their communicator is freed.
void take_in_messages([[maybe_unused]] MPI_Comm communicator) {
#ifndef CHIPLOG_SMPI
  int is_there = 0;
  PMPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, communicator, &is_there, MPI_STATUS_IGNORE);
#endif
}

// Makes no call of the MPI: where messages were under way when a communicator was freed, MPICH deletes its attributes
// when the last one is done, in the midst of another call and with its locks held.
int forget(MPI_Comm, int, void* value, void*) {
  remove(*static_cast<Entry*>(value));
  return MPI_SUCCESS;
}

// MPI_Finalize begins with the attributes of MPI_COMM_SELF; this one is for programs whose MPI_Finalize isn't seen.
int close(MPI_Comm, int, void*, void*) {
  before_finalisation();
  return MPI_SUCCESS;
}

// Once a program, not once a communicator.
void say_problems() {
  if (world->rank() != 0) return;
  for (const std::string& problem : settings().problems) say(problem);
  constexpr int any = 2;  // what is wrong does not depend on the number of ranks
  if (const Choice choice = choose(any); !choice.problem.empty()) say(choice.problem + "; the default is used");
}

// The thread level that the MPI has given.
void ask_for_threads() {
#ifndef CHIPLOG_SMPI
  int level = MPI_THREAD_MULTIPLE;
  if (PMPI_Query_thread(&level) != MPI_SUCCESS || level >= MPI_THREAD_MULTIPLE) return threads_may_come();
  Callers unknown = Callers::unknown;
  callers.compare_exchange_strong(unknown, Callers::one_thread);
#endif
}

// Whether a process may outlive others of its job, and its barriers end with an error then (ULFM). In memory it would
// wait for ever.
bool outlives_others() {
#if defined(OPEN_MPI) && OMPI_MAJOR_VERSION >= 5
  void* is_on = nullptr;
  int found = 0;
  if (PMPI_Comm_get_attr(MPI_COMM_WORLD, MPI_FT, &is_on, &found) != MPI_SUCCESS || found == 0) return false;
  return *static_cast<int*>(is_on) != 0;
#else
  return false;
#endif
}

// Where attributes can't be had, or processes may outlive others, nothing is served.
Phase open() {
  const std::lock_guard lock(opening);
  if (phase.load() != Phase::before || !mpi_is_up()) return phase.load();
  int closing = MPI_KEYVAL_INVALID;
  const bool made = !outlives_others() &&
                    PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, forget, &keyval, nullptr) == MPI_SUCCESS &&
                    PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, close, &closing, nullptr) == MPI_SUCCESS &&
                    PMPI_Comm_set_attr(MPI_COMM_SELF, closing, nullptr) == MPI_SUCCESS;
  if (made) {
    ask_for_threads();
    barriers_before = settings().barriers_before;
    world = std::make_unique<World>();
    say_problems();
  }
  phase.store(made ? Phase::open : Phase::closed);
  return phase.load();
}

Phase phase_now() {
  const Phase now = phase.load(std::memory_order_acquire);
  return now == Phase::before ? open() : now;
}

// Whether the communicator that the entry was made for is still there. One that a callback's barrier has made while
// its communicator was freed may be left behind without it.
bool is_attribute_of(MPI_Comm communicator, const Entry& entry) {
  void* attribute = nullptr;
  int found = 0;
  if (PMPI_Comm_get_attr(communicator, keyval, &attribute, &found) != MPI_SUCCESS) return false;
  return found != 0 && attribute == &entry;
}

// The entry of a communicator, and whether it has just been added.
std::pair<Entry*, bool> find_or_add(MPI_Comm communicator) {
  const std::lock_guard lock(lock_of_communicators);
  if (Entry* const known = communicators.find(communicator); known != nullptr) return {known, false};
  return {&communicators.add(communicator, {.own_left = barriers_before}), true};
}

// That of a communicator that is valid. Null where the MPI refuses an attribute.
Entry* entry_of(MPI_Comm communicator) {
  auto [entry, is_new] = find_or_add(communicator);
  if (!is_new) {
    if (is_attribute_of(communicator, *entry)) return entry;
    remove(*entry);
    entry = find_or_add(communicator).first;
  }
  if (PMPI_Comm_set_attr(communicator, keyval, entry) == MPI_SUCCESS) return entry;
  remove(*entry);
  return nullptr;
}

// Lets the next barriers be counted without asking for the entry.
void remember(MPI_Comm communicator, Entry& entry) {
  if (Recent& known = recent(); holds(known, communicator)) known.entry = &entry;
}

}  // namespace

void look_up(MPI_Comm communicator, Recent& known) {
  const std::lock_guard lock(lock_of_communicators);
  Entry* const found = communicators.find(communicator);
  const bool is_settled = found != nullptr && found->is_settled;
  known = {communicator, changes_so_far.load(std::memory_order_relaxed), is_settled ? found : nullptr};
}

void lend_pair(MPI_Comm communicator, Barrier& barrier) {
  if (!is_one_thread()) return;
  give_back_pair();
  process_pair = {communicator, barrier.lend(), &barrier};
}

void threads_may_come() {
  callers.store(Callers::any_threads);
  give_back_pair();
}

void before_own_barrier() { (void)phase_now(); }

void after_own_barrier(MPI_Comm communicator) {
  if (phase.load(std::memory_order_acquire) != Phase::open || communicator == being_freed) return;
  Entry* const entry = entry_of(communicator);
  if (entry == nullptr || entry->is_settled) return;
  if (--entry->own_left > 0) return remember(communicator, *entry);
  end_retired();
  SetUpResult result = set_up(communicator, *world);
  if (result.is_put_off) {
    entry->own_left = barriers_until_asked_again();
    return;
  }
  const std::lock_guard lock(lock_of_communicators);
  entry->barrier = std::move(result.barrier);
  entry->is_settled = true;
  announce_change();
}

void number_is_pending(MPI_Comm communicator) {
  PendingNumbers::begin();
  if (phase_now() != Phase::open) return;
  Entry* const entry = entry_of(communicator);
  if (entry == nullptr) return;
  const std::lock_guard lock(lock_of_communicators);
  retire(*entry);
  entry->is_settled = false;
  entry->own_left = barriers_until_asked_again();
  announce_change();
}

MPI_Comm begin_to_free(MPI_Comm communicator) {
  if (leave_to_mpi(communicator)) take_in_messages(communicator);
  return std::exchange(being_freed, communicator);
}

void freed(MPI_Comm freed_before) {
  being_freed = freed_before;
  end_retired();
}

void after_initialisation() {
  if (phase_now() == Phase::open && settings().every_rank) world->connect();
}

void before_finalisation() {
  if (phase.exchange(Phase::closed) != Phase::open || !mpi_is_up()) return;
  {
    const std::lock_guard lock(lock_of_communicators);
    communicators.for_each([](Entry& entry) { retire(entry); });
    announce_change();
  }
  end_retired();
  world->disconnect();
  world.reset();
}

}  // namespace chiplog::collectives
