// The samples of one series on this rank.
#pragma once

#include <vector>

namespace chiplog {

struct SeriesSamples {
  std::vector<double> durations_ns;  // of the timed intervals, on the rank that times them
  std::vector<double> waits_ns;      // for each sample the mean of its busy waits, on the rank that waits
  // For a pattern that records each pair, on rank 0: the timed intervals of each of its links.
  std::vector<std::vector<double>> by_pair_ns;

  void clear() {
    durations_ns.clear();
    waits_ns.clear();
    by_pair_ns.clear();
  }
};

}  // namespace chiplog
