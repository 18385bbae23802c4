#include "collectives/schedule.hpp"

#include <numeric>

#include "core/dissemination.hpp"

namespace chiplog::collectives {

Schedule dissemination_schedule(int ranks, int rank, int peers) {
  Schedule schedule;
  for (const std::vector<int>& steps : dissemination_steps(ranks, peers)) {
    Round& round = schedule.emplace_back();
    for (const int step : steps) {
      round.tells.push_back((rank + step) % ranks);
      round.hears.push_back((rank - step + ranks) % ranks);
    }
  }
  return schedule;
}

Schedule linear_schedule(int ranks, int rank) {
  if (rank != 0) return {{{0}, {0}}};
  std::vector<int> others(static_cast<std::size_t>(ranks) - 1);
  std::iota(others.begin(), others.end(), 1);
  return {{{}, others}, {others, {}}};
}

}  // namespace chiplog::collectives
