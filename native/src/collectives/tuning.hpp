// By which algorithm the ranks that exchange messages do so, one on each node, and why.
#pragma once

#include <string>
#include <vector>

#include "core/barrier_algorithms.hpp"

namespace chiplog::collectives {

struct Choice {
  const BarrierAlgorithm* algorithm = nullptr;  // null: the MPI's own
  int peers = 0;                                // of an algorithm that takes them
  bool by_trial = false;                        // whichever a trial finds the fastest: not known yet
  std::string why;                              // where the choice comes from
  std::string problem;                          // what was wrong with a setting that is not in force, or nothing
  bool provisional = false;                     // nobody asked for it: a trial may replace it
};

// For `ranks` ranks. CHIPLOG_BARRIER_ALGORITHM goes before CHIPLOG_BARRIER_N, that before the file CHIPLOG_TUNING (a
// `chiplog.tuning/1`), and that before n-way dissemination with `default_peers`. Of a file the choice for the most
// ranks counts that are not more than `ranks`, else that for the fewest.
[[nodiscard]] Choice choose(int ranks);

// The smallest n up to 3 that gives the fewest rounds: it is no worse than plain dissemination (n = 1) wherever a
// round's latency exceeds two gaps.
[[nodiscard]] int default_peers(int ranks);

// What a trial compares: the MPI's own, and each algorithm with the numbers of peers that are worth it.
[[nodiscard]] std::vector<Choice> candidates(int ranks);

// The algorithm as a number that means the same on all ranks, and back.
[[nodiscard]] int code_of(const Choice& choice);
void set_code(Choice& choice, int code);

}  // namespace chiplog::collectives
