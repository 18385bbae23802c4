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

// What is known of the communicator that was met last, so that most barriers ask nobody.
struct Recent {
  MPI_Comm communicator{};
  Barrier* barrier = nullptr;  // null: the MPI's own
  std::uint64_t changes = 0;  // how many there had been then; after another one, the handle may be a new communicator's
  bool is_settled = false;    // it stays so
  int* own_left = nullptr;    // how many of the MPI's own come before a set-up, where there are some to come
};

// The communicator of two ranks that this process met last, if its threads call the MPI one at a time: with a barrier
// lent to this place, where it is reached in fewest steps. It is given back whenever a communicator gets a barrier or
// is freed.
struct ProcessPair {
  MPI_Comm communicator{};
  PairFlags flags;
  Barrier* barrier = nullptr;  // the owner of the flags; null while no communicator stands here
};
[[gnu::visibility("hidden")]] extern ProcessPair process_pair;

// After a barrier of two ranks that was its own: the next ones are done with `process_pair`.
void lend_pair(MPI_Comm communicator, Barrier& barrier);

// What is known of a communicator, until this thread asks about another one.
[[nodiscard]] const Recent& find(MPI_Comm communicator);

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

// After MPI_Comm_idup, where ranks must not wait in memory while the new communicator gets its number: the barriers
// of this one are the MPI's own again, on all its ranks alike, until some more have been counted.
void number_is_pending(MPI_Comm communicator);

// From now on, several threads may call the MPI at the same time.
void threads_may_come();

// Around MPI_Init and MPI_Finalize.
void after_initialisation();
void before_finalisation();

}  // namespace chiplog::collectives
