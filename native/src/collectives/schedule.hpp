// Who tells whom in a barrier by messages, as one rank sees it.
#pragma once

#include <vector>

namespace chiplog::collectives {

// The rank tells some others, then waits until some others have told it.
struct Round {
  std::vector<int> tells;
  std::vector<int> hears;
};

using Schedule = std::vector<Round>;

// Fewest rounds: in each, every rank tells `peers` others. Two ranks exchange at most one message.
[[nodiscard]] Schedule dissemination_schedule(int ranks, int rank, int peers);

// Fewest messages: all tell rank 0, which then tells all.
[[nodiscard]] Schedule linear_schedule(int ranks, int rank);

}  // namespace chiplog::collectives
