// How many peers a rank has in a round of the barrier, and why.
#pragma once

#include <string>

namespace chiplog::collectives {

struct PeerChoice {
  int peers = 0;        // n; 0 leaves the barrier among these ranks to the MPI's own
  std::string why;      // where n comes from
  std::string problem;  // what was wrong with a setting that is not in force, or nothing
};

// For `ranks` ranks that exchange messages, one on each node. CHIPLOG_BARRIER_N goes before the file CHIPLOG_TUNING (a
// `chiplog.tuning/1`), and that before `default_peers`. Of a file the choice for the most ranks counts that are not
// more than `ranks`, else that for the fewest.
[[nodiscard]] PeerChoice choose_peers(int ranks);

// The smallest n up to 3 that gives the fewest rounds: it is no worse than plain dissemination (n = 1) wherever a
// round's latency exceeds two gaps.
[[nodiscard]] int default_peers(int ranks);

}  // namespace chiplog::collectives
