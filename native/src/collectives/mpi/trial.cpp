#include "collectives/mpi/trial.hpp"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <vector>

#include "chiplog/median.hpp"
#include "collectives/mpi/leader_rounds.hpp"

namespace chiplog::collectives {
namespace {

constexpr int turns = 15;
constexpr int barriers_a_turn = 8;

struct Tried {
  Choice choice;
  std::unique_ptr<LeaderRounds> rounds;
  std::vector<double> seconds;  // of each turn
};

// The MPI's own barrier is left out: it would need a communicator of the leaders, and the library makes none.
std::vector<Tried> make_all(const LeaderGroup& group) {
  std::vector<Tried> all;
  for (const Choice& choice : candidates(group.size())) {
    if (choice.algorithm != nullptr) all.push_back({choice, std::make_unique<LeaderRounds>(group, choice), {}});
  }
  return all;
}

bool are_usable(const std::vector<Tried>& all) {
  return std::all_of(all.begin(), all.end(), [](const Tried& one) { return one.rounds->error() == MPI_SUCCESS; });
}

// In turn, so that what else goes on strikes all alike. The first turn makes connections and doesn't count.
bool run_in_turn(std::vector<Tried>& all) {
  for (int turn = -1; turn < turns; ++turn) {
    for (Tried& one : all) {
      const double begin = PMPI_Wtime();
      for (int barrier = 0; barrier < barriers_a_turn; ++barrier) {
        if (one.rounds->run() != MPI_SUCCESS) return false;
      }
      if (turn >= 0) one.seconds.push_back(PMPI_Wtime() - begin);
    }
  }
  return true;
}

int fastest(std::vector<Tried>& all) {
  const auto least = std::min_element(all.begin(), all.end(),
                                      [](Tried& a, Tried& b) { return median(a.seconds) < median(b.seconds); });
  return static_cast<int>(least - all.begin());
}

// The first leader hears a number of everybody, and tells all the least. Negative where the MPI refuses.
int least_of_all(const LeaderGroup& group, int mine) {
  constexpr int refused = -1;
  if (group.self != 0) {
    const int first = group.rank_of(0);
    if (PMPI_Send(&mine, 1, MPI_INT, first, group.tag, group.messages) != MPI_SUCCESS) return refused;
    const int error = PMPI_Recv(&mine, 1, MPI_INT, first, group.tag, group.messages, MPI_STATUS_IGNORE);
    return error == MPI_SUCCESS ? mine : refused;
  }
  for (int other = 1; other < group.size(); ++other) {
    int heard = refused;
    PMPI_Recv(&heard, 1, MPI_INT, group.rank_of(other), group.tag, group.messages, MPI_STATUS_IGNORE);
    mine = std::min(mine, heard);
  }
  for (int other = 1; other < group.size(); ++other) {
    PMPI_Send(&mine, 1, MPI_INT, group.rank_of(other), group.tag, group.messages);
  }
  return mine;
}

}  // namespace

// The first leader's clock decides: the others offer more than there are.
std::unique_ptr<LeaderRounds> fastest_of_all(const LeaderGroup& group, Choice& choice) {
  std::vector<Tried> all = make_all(group);
  const int count = static_cast<int>(all.size());
  if (least_of_all(group, are_usable(all) ? 1 : 0) != 1 || all.empty()) return nullptr;
  if (!run_in_turn(all)) return nullptr;
  const int index = least_of_all(group, group.self == 0 ? fastest(all) : count);
  if (index < 0 || index >= count) return nullptr;
  Tried& found = all[static_cast<std::size_t>(index)];
  choice = found.choice;
  return std::move(found.rounds);
}

}  // namespace chiplog::collectives
