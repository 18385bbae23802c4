// Whether an operation's result is what MPI says it is.
#pragma once

#include <mpi.h>

#include <string>

#include "chiplog-bench/modes.hpp"

namespace chiplog::race {

struct FirstCall {
  double ns = 0;            // the longest of the ranks' own times
  bool is_refused = false;  // the MPI returned an error on a rank
  bool is_wrong = false;    // a rank has another result than MPI says; false where none was checked
};

// Calls the operation, or what stands for it, and checks its result if `checks`. Collective over the ranks that meet;
// the same on all of them, as below.
FirstCall first_call(const std::string& operation, const bench::Timed& timed, bool checks);

// Whether a reduction is wrong for operations that do not commute; false of all other operations.
bool mixes_the_order(const std::string& operation, int bytes, MPI_Comm world, MPI_Comm meet);

}  // namespace chiplog::race
