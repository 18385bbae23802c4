// Whether an operation's result is what MPI says it is.
#pragma once

#include <mpi.h>

#include <string>

namespace chiplog::race {

// What is wrong with the operation on `world`, one of `bytes` bytes; empty if nothing is. Collective over `meet`, which
// has the same ranks; the same on all of them. Reductions are tried with an operation that does not commute, too,
// unless `commutative`: a rules file applies to these as well.
std::string wrong_result(const std::string& operation, int bytes, MPI_Comm world, MPI_Comm meet, bool commutative);

}  // namespace chiplog::race
