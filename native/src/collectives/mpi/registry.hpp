// Which communicator has which barrier: an attribute of the communicator, freed with it.
#pragma once

#include <mpi.h>

#include <atomic>
#include <cstdint>

#include "collectives/mpi/barrier.hpp"

namespace chiplog::collectives {

// The communicator that a thread met last, so that most barriers ask the MPI nothing.
struct Recent {
  std::uint64_t freed = 0;  // how many communicators had been freed then: their handles may be in use again
  Barrier* barrier = nullptr;
  MPI_Comm communicator{};
};

extern std::atomic<std::uint64_t> freed_communicators;

// Its barrier, or null where the MPI's own must do: before MPI_Init, from MPI_Finalize on, for communicators that can't
// be served. A communicator's first call is collective and sets its barrier up. Threads may call it for different
// communicators at a time, as they may call MPI_Barrier.
[[nodiscard]] Barrier* look_up(MPI_Comm communicator);

// The same from the thread's memory, where it can be.
[[nodiscard]] inline Barrier* find(MPI_Comm communicator) {
#ifdef CHIPLOG_SMPI
  return look_up(communicator);  // a thread runs many simulated ranks
#else
  // Known at load time, this variable is reached without a call.
  [[gnu::tls_model("initial-exec")]] static thread_local constinit Recent recent;
  const std::uint64_t freed = freed_communicators.load(std::memory_order_relaxed);
  if (recent.barrier != nullptr && recent.communicator == communicator && recent.freed == freed) [[likely]] {
    return recent.barrier;
  }
  Barrier* barrier = look_up(communicator);
  recent = {freed, barrier, communicator};
  return barrier;
#endif
}

}  // namespace chiplog::collectives
