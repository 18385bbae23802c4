// Collective operations put together from others: what an MPI's own should never be slower than (Traeff, Gropp, Thakur:
// Self-Consistent MPI Performance Guidelines, IEEE TPDS 21(5), 2010). Each gives the result of the operation itself,
// with all copies that this takes.
#pragma once

#include <string>

#include "chiplog-bench/operations.hpp"

namespace chiplog::race {

// Throws UsageError, which lists the operation's emulations, if it has none of that name.
bench::Call find_emulation(const std::string& operation, const std::string& name);

}  // namespace chiplog::race
