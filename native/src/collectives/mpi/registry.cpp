#include "collectives/mpi/registry.hpp"

#include <memory>
#include <mutex>

#include "collectives/mpi/set_up.hpp"

namespace chiplog::collectives {

std::atomic<std::uint64_t> freed_communicators{0};

namespace {

// The attribute: the barrier is null where the communicator can't be served.
struct Served {
  std::unique_ptr<Barrier> barrier;
};

enum class Phase { before, open, closed };

std::atomic<Phase> phase{Phase::before};
std::mutex opening;
int keyval = MPI_KEYVAL_INVALID;

int forget(MPI_Comm, int, void* value, void*) {
  freed_communicators.fetch_add(1, std::memory_order_relaxed);
  std::unique_ptr<Served> served(static_cast<Served*>(value));
  if (phase.load() == Phase::closed && served->barrier) served->barrier->abandon();
  return MPI_SUCCESS;
}

bool mpi_is_up() {
  int initialised = 0;
  int finalised = 0;
  PMPI_Initialized(&initialised);
  if (initialised != 0) PMPI_Finalized(&finalised);
  return initialised != 0 && finalised == 0;
}

// MPI_Finalize begins with the attributes of MPI_COMM_SELF: the last moment at which communicators can be freed.
int close(MPI_Comm, int, void*, void*) {
  void* attribute = nullptr;
  int found = 0;
  if (mpi_is_up()) PMPI_Comm_get_attr(MPI_COMM_WORLD, keyval, &attribute, &found);  // SMPI comes here too late
  if (found != 0) PMPI_Comm_delete_attr(MPI_COMM_WORLD, keyval);
  phase.store(Phase::closed);
  return MPI_SUCCESS;
}

// Where attributes can't be had, nothing is served.
Phase open() {
  const std::lock_guard lock(opening);
  if (phase.load() != Phase::before || !mpi_is_up()) return phase.load();
  int closing = MPI_KEYVAL_INVALID;
  const bool made = PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, forget, &keyval, nullptr) == MPI_SUCCESS &&
                    PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, close, &closing, nullptr) == MPI_SUCCESS &&
                    PMPI_Comm_set_attr(MPI_COMM_SELF, closing, nullptr) == MPI_SUCCESS;
  phase.store(made ? Phase::open : Phase::closed);
  return phase.load();
}

}  // namespace

Barrier* look_up(MPI_Comm communicator) {
  if (communicator == MPI_COMM_NULL) return nullptr;
  Phase now = phase.load(std::memory_order_acquire);
  if (now == Phase::before) now = open();
  if (now != Phase::open) return nullptr;
  void* attribute = nullptr;
  int found = 0;
  if (PMPI_Comm_get_attr(communicator, keyval, &attribute, &found) != MPI_SUCCESS) return nullptr;
  if (found != 0) return static_cast<Served*>(attribute)->barrier.get();
  auto served = std::make_unique<Served>();
  const bool kept = PMPI_Comm_set_attr(communicator, keyval, served.get()) == MPI_SUCCESS;
  served->barrier = set_up(communicator, kept);
  return kept ? served.release()->barrier.get() : nullptr;
}

}  // namespace chiplog::collectives
