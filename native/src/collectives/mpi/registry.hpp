// Which communicator has which barrier.
//
// A barrier goes with its communicator: an attribute names its state, and is deleted with it. The handles stand in a
// table, too, so that nothing is asked of the MPI about a handle that may not be valid.
#pragma once

#include <mpi.h>

#include <atomic>
#include <cstdint>
#include <memory>

#include "collectives/handle_table.hpp"
#include "collectives/mpi/barrier.hpp"

namespace chiplog::collectives {

// Of a communicator that has had a barrier.
struct CommunicatorState {
  int own_left = 0;                  // how many of the MPI's own barriers come before a set-up
  bool is_settled = false;           // set up, or left to the MPI for good
  std::unique_ptr<Barrier> barrier;  // null where the MPI's own must do
};
using Communicators = HandleTable<MPI_Comm, CommunicatorState>;

// The communicator that was met last, so that most barriers ask nobody.
struct Recent {
  MPI_Comm communicator{};
  std::uint64_t changes = 0;  // how many there had been then; after another one, the handle may be a new communicator's
  Communicators::Entry* entry = nullptr;  // null where it isn't known, or not known to be still that communicator's
};

// How often a communicator got a barrier or was freed.
[[gnu::visibility("hidden")]] extern std::atomic<std::uint64_t> changes_so_far;

// Which threads may call the MPI at the same time.
enum class Callers { unknown, one_thread, any_threads };
[[gnu::visibility("hidden")]] extern std::atomic<Callers> callers;
inline bool is_one_thread() { return callers.load(std::memory_order_relaxed) == Callers::one_thread; }

// What this process met last, if its threads call the MPI one at a time; else each thread has its own, which is known
// at load time, so that it is reached without a call.
[[gnu::visibility("hidden")]] extern Recent process_recent;
#ifdef CHIPLOG_SMPI  // one thread runs many simulated ranks
inline Recent& recent() {
  static Recent none;
  return none = {};
}
#else
[[gnu::tls_model("initial-exec"), gnu::visibility("hidden")]] extern thread_local constinit Recent thread_recent;
inline Recent& recent() { return is_one_thread() ? process_recent : thread_recent; }
#endif

// Does a record still say what this handle stands for?
inline bool holds(const Recent& known, MPI_Comm communicator) {
  return known.communicator == communicator && known.changes == changes_so_far.load(std::memory_order_relaxed);
}

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

// Asks the table: for an entry that is settled, or none.
void look_up(MPI_Comm communicator, Recent& known);

// What is known of a communicator.
[[nodiscard]] inline Communicators::Entry* find(MPI_Comm communicator) {
  Recent& known = recent();
  if (!holds(known, communicator)) look_up(communicator, known);
  return known.entry;
}

// Before a barrier of the MPI's own: this process becomes known to the others of its node.
void before_own_barrier();
// After one that went well, on a communicator that is not settled: counts it, and sets up a barrier when it is time.
// While more than one is left, whoever has found the entry may count by itself instead.
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
