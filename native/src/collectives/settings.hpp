// What the environment says, once a process. Ranks whose settings differ are not served together.
#pragma once

#include <string>
#include <vector>

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
  // Rank 0 of each communicator says how its barrier is done.
  bool verbose = false;
  // A sentence for each variable whose value was not understood, with what holds instead.
  std::vector<std::string> problems;
};

// CHIPLOG_BARRIER_AFTER, CHIPLOG_BARRIER_SHARED, CHIPLOG_EVERY_RANK, CHIPLOG_BARRIER_NODE and CHIPLOG_VERBOSE as they
// are now. One that is not understood is as if it were not set.
[[nodiscard]] Settings read_settings();

// As they were when they were first asked for.
[[nodiscard]] const Settings& settings();

void say(const std::string& sentence);

}  // namespace chiplog::collectives
