#include "collectives/mpi/registry.hpp"

#include <map>
#include <memory>
#include <mutex>
#include <utility>

#include "collectives/mpi/set_up.hpp"
#include "collectives/mpi/settings.hpp"
#include "collectives/mpi/world.hpp"

namespace chiplog::collectives {

std::atomic<std::uint64_t> registry_changes{0};

namespace {

// The attribute of a communicator that has had a barrier.
struct Entry {
  int own_barriers = 0;
  bool is_settled = false;           // set up, or left to the MPI for good
  std::unique_ptr<Barrier> barrier;  // null where the MPI's own must do
};

enum class Phase { before, open, closed };

std::mutex mutex;  // of all below
std::atomic<Phase> phase{Phase::before};
std::map<MPI_Comm, Entry*> settled;
std::unique_ptr<World> world;
int keyval = MPI_KEYVAL_INVALID;

// Of the communicator that this thread is freeing; the program's callbacks may call barriers meanwhile.
thread_local MPI_Comm being_freed = MPI_COMM_NULL;

bool mpi_is_up() {
  int initialised = 0;
  int finalised = 0;
  PMPI_Initialized(&initialised);
  if (initialised != 0) PMPI_Finalized(&finalised);
  return initialised != 0 && finalised == 0;
}

void remove_from_table(MPI_Comm communicator) {
  const std::lock_guard lock(mutex);
  settled.erase(communicator);
  registry_changes.fetch_add(1, std::memory_order_relaxed);
}

int forget(MPI_Comm communicator, int, void* value, void*) {
  remove_from_table(communicator);
  const std::unique_ptr<Entry> entry(static_cast<Entry*>(value));
  return MPI_SUCCESS;
}

// MPI_Finalize begins with the attributes of MPI_COMM_SELF; this one is for programs whose MPI_Finalize isn't seen.
int close(MPI_Comm, int, void*, void*) {
  before_finalisation();
  return MPI_SUCCESS;
}

// Where attributes can't be had, nothing is served.
Phase open() {
  const std::lock_guard lock(mutex);
  if (phase.load() != Phase::before || !mpi_is_up()) return phase.load();
  int closing = MPI_KEYVAL_INVALID;
  const bool made = PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, forget, &keyval, nullptr) == MPI_SUCCESS &&
                    PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, close, &closing, nullptr) == MPI_SUCCESS &&
                    PMPI_Comm_set_attr(MPI_COMM_SELF, closing, nullptr) == MPI_SUCCESS;
  if (made) world = std::make_unique<World>();
  phase.store(made ? Phase::open : Phase::closed);
  return phase.load();
}

Phase phase_now() {
  const Phase now = phase.load(std::memory_order_acquire);
  return now == Phase::before ? open() : now;
}

// Null where the MPI refuses an attribute.
Entry* entry_of(MPI_Comm communicator) {
  void* attribute = nullptr;
  int found = 0;
  if (PMPI_Comm_get_attr(communicator, keyval, &attribute, &found) != MPI_SUCCESS) return nullptr;
  if (found != 0) return static_cast<Entry*>(attribute);
  auto entry = std::make_unique<Entry>();
  if (PMPI_Comm_set_attr(communicator, keyval, entry.get()) != MPI_SUCCESS) return nullptr;
  return entry.release();
}

}  // namespace

Recent look_up(MPI_Comm communicator) {
  const std::lock_guard lock(mutex);
  const std::uint64_t changes = registry_changes.load(std::memory_order_relaxed);
  const auto found = settled.find(communicator);
  if (found == settled.end()) return {changes, communicator, nullptr, false};
  return {changes, communicator, found->second->barrier.get(), true};
}

void before_own_barrier() { (void)phase_now(); }

void after_own_barrier(MPI_Comm communicator) {
  if (phase.load(std::memory_order_acquire) != Phase::open || communicator == being_freed) return;
  Entry* entry = entry_of(communicator);
  if (entry == nullptr || entry->is_settled) return;
  if (++entry->own_barriers < settings().barriers_before) return;
  entry->barrier = set_up(communicator, *world);
  entry->is_settled = true;
  const std::lock_guard lock(mutex);
  settled[communicator] = entry;
  registry_changes.fetch_add(1, std::memory_order_relaxed);
}

MPI_Comm begin_to_free(MPI_Comm communicator) {
  remove_from_table(communicator);
  return std::exchange(being_freed, communicator);
}

void freed(MPI_Comm freed_before) { being_freed = freed_before; }

void after_initialisation() {
  if (phase_now() == Phase::open && settings().every_rank) world->connect();
}

void before_finalisation() {
  if (phase.exchange(Phase::closed) != Phase::open || !mpi_is_up()) return;
  {
    const std::lock_guard lock(mutex);
    for (const auto& [communicator, entry] : settled) entry->barrier.reset();
    settled.clear();
    registry_changes.fetch_add(1, std::memory_order_relaxed);
  }
  world->disconnect();
  world.reset();
}

}  // namespace chiplog::collectives
