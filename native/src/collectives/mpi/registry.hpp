// Which communicator has which barrier.
//
// A barrier goes with its communicator: an attribute holds it, and is deleted with it. The handles of those that have
// one stand in a table, so that nothing is asked of the MPI about a handle that may not be valid.
#pragma once

#include <mpi.h>

#include <atomic>
#include <cstdint>

#include "collectives/mpi/barrier.hpp"

namespace chiplog::collectives {

// What a thread knows of the communicator that it met last, so that most barriers ask nobody.
struct Recent {
  std::uint64_t changes = 0;  // as many as there had been then: since then handles may stand for something else
  MPI_Comm communicator{};
  Barrier* barrier = nullptr;  // null: the MPI's own
  bool is_settled = false;     // it stays so
  int* own_left = nullptr;     // how many of the MPI's own come before a set-up, where there are some to come
};

// How often a communicator got a barrier or was freed.
extern std::atomic<std::uint64_t> registry_changes;

// The table's answer.
[[nodiscard]] Recent look_up(MPI_Comm communicator);

#ifndef CHIPLOG_SMPI  // there a thread runs many simulated ranks
// This thread's. Known at load time, it is reached without a call.
[[gnu::tls_model("initial-exec")]] inline thread_local constinit Recent recent;
#endif

// What is known of a communicator, until this thread asks about another one.
[[nodiscard]] inline const Recent& find(MPI_Comm communicator) {
#ifdef CHIPLOG_SMPI
  static Recent found;
  found = look_up(communicator);
  return found;
#else
  const std::uint64_t changes = registry_changes.load(std::memory_order_relaxed);
  if (recent.communicator == communicator && recent.changes == changes) [[likely]] {
    return recent;
  }
  recent = look_up(communicator);
  return recent;
#endif
}

// Before a barrier of the MPI's own: this process becomes known to the others of its node.
void before_own_barrier();
// After one that went well, on a communicator that is not settled: counts it, and sets up a barrier when it is time.
// While more than one is left, whoever has `own_left` may count by itself instead.
void after_own_barrier(MPI_Comm communicator);

// The communicator is about to be freed: from now on its barriers are the MPI's own, on all ranks alike, even if a
// callback of the program calls one while it is being freed. `freed` follows and takes the result: a callback may free
// another communicator.
[[nodiscard]] MPI_Comm begin_to_free(MPI_Comm communicator);
void freed(MPI_Comm freed_before);

// Around MPI_Init and MPI_Finalize.
void after_initialisation();
void before_finalisation();

}  // namespace chiplog::collectives
