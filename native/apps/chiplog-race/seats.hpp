// On which hosts the ranks are.
#pragma once

#include <mpi.h>

#include "plan.hpp"

namespace chiplog::race {

// Both are collective over MPI_COMM_WORLD.

int count_hosts();

// Whether this rank belongs to the communicator of so many ranks: the first of all, or those of the shape, which are
// the first ranks of the first hosts. Throws UsageError where too few hosts or ranks were started for the shape.
bool is_member(int ranks, const Shape& shape);

}  // namespace chiplog::race
