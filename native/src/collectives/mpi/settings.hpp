// What the environment says, once a process. Ranks whose settings differ are not served together.
#pragma once

#include <string>

namespace chiplog::collectives {

struct Settings {
  // A communicator's first barriers are the MPI's own: only one that goes on is worth a set-up.
  int barriers_before = 32;
  // Do the ranks of a node meet in shared memory? Otherwise each counts as a node of its own.
  bool shares_memory = true;
  // The user's word that all ranks of MPI_COMM_WORLD have the library. Those of other hosts can't be seen.
  bool every_rank = false;
  // Ranks of one host that give different names here count as of different nodes.
  std::string node;
};

// CHIPLOG_BARRIER_AFTER, CHIPLOG_BARRIER_SHARED, CHIPLOG_EVERY_RANK and CHIPLOG_BARRIER_NODE.
[[nodiscard]] const Settings& settings();

// CHIPLOG_VERBOSE: rank 0 of each communicator says how its barrier is done.
[[nodiscard]] bool verbose();
void say(const std::string& sentence);

}  // namespace chiplog::collectives
