// Which job this process belongs to, as its launcher tells it.
#pragma once

#include <string>

namespace chiplog::collectives {

// A text that all ranks of one MPI_COMM_WORLD on a node have in common and no other job's have; empty where the
// launcher tells none. `spawned` says that MPI_Comm_spawn started this process: some launchers then tell what they told
// the parents.
[[nodiscard]] std::string job_of_this_process(bool spawned);

}  // namespace chiplog::collectives
