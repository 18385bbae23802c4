// Barriers by messages: one table that the library, its tuning files, Python and the probe's pattern read.
//
// A new algorithm is a schedule and an entry here, and its closed form in src/chiplog/collectives/barrier. In the
// library the ranks of a node meet in shared memory first; then one rank of each node runs the algorithm.
#pragma once

#include <array>
#include <cstddef>
#include <limits>
#include <numeric>
#include <string>
#include <string_view>
#include <vector>

#include "core/dissemination.hpp"

namespace chiplog {

// A rank tells some others, then waits until some others have told it.
struct BarrierRound {
  std::vector<int> tells;
  std::vector<int> hears;
};

// What one rank does. Two ranks exchange at most one message in each direction.
using BarrierSchedule = std::vector<BarrierRound>;

struct BarrierAlgorithm {
  std::string_view name;    // in tuning files and settings, and of the algorithm in Python
  std::string_view symbol;  // of its number of peers, such as n, or nothing; tuning files call the number "peers"
  std::string_view title;   // for messages; # stands for the number of peers
  BarrierSchedule (*schedule)(int ranks, int rank, int peers);
  // The numbers of peers worth trying among `ranks` ranks; {0} if the algorithm takes no number of peers. Null if
  // another entry stands for this one.
  std::vector<int> (*trials)(int ranks);

  [[nodiscard]] bool takes_peers() const { return !symbol.empty(); }
  [[nodiscard]] std::string text(int peers) const {
    std::string found(title);
    if (const std::size_t place = found.find('#'); place != std::string::npos) {
      found.replace(place, 1, std::to_string(peers));
    }
    return found;
  }
};

namespace barriers {

constexpr int most_tried = 16;

// Of those from `least` to `most`, the smallest number of peers for each number of rounds.
template <class Rounds>
std::vector<int> smallest_for_each(int least, int most, Rounds&& rounds_of) {
  std::vector<int> found;
  std::size_t fewest = std::numeric_limits<std::size_t>::max();
  for (int peers = least; peers <= most; ++peers) {
    const std::size_t rounds = rounds_of(peers);
    if (rounds >= fewest) continue;
    fewest = rounds;
    found.push_back(peers);
  }
  return found;
}

// Fewest rounds: in each, every rank tells `peers` others.
inline BarrierSchedule n_way(int ranks, int rank, int peers) {
  BarrierSchedule schedule;
  for (const std::vector<int>& steps : dissemination_steps(ranks, peers)) {
    BarrierRound& round = schedule.emplace_back();
    for (const int step : steps) {
      round.tells.push_back((rank + step) % ranks);
      round.hears.push_back((rank - step + ranks) % ranks);
    }
  }
  return schedule;
}

inline std::vector<int> n_way_trials(int ranks) {
  const int most = ranks - 1 < most_tried ? ranks - 1 : most_tried;
  return smallest_for_each(1, most, [&](int peers) { return dissemination_steps(ranks, peers).size(); });
}

// Fewest messages: all tell rank 0, which then tells all.
inline BarrierSchedule linear(int ranks, int rank, int) {
  if (rank != 0) return {{{0}, {0}}};
  std::vector<int> others(static_cast<std::size_t>(ranks) - 1);
  std::iota(others.begin(), others.end(), 1);
  return {{{}, others}, {others, {}}};
}

inline std::vector<int> no_peers(int) { return {0}; }

// Up a tree whose rank r has the children k r + 1 .. k r + k, then down again: few messages, and few of them at once.
inline BarrierSchedule tree(int ranks, int rank, int peers) {
  std::vector<int> children;
  const long first = static_cast<long>(peers) * rank + 1;
  for (long child = first; child < ranks && child < first + peers; ++child) children.push_back(static_cast<int>(child));
  BarrierSchedule schedule;
  if (!children.empty()) schedule.push_back({{}, children});
  if (rank != 0) schedule.push_back({{(rank - 1) / peers}, {(rank - 1) / peers}});
  if (!children.empty()) schedule.push_back({children, {}});
  return schedule;
}

// Levels below the root.
inline std::size_t tree_depth(int ranks, int peers) {
  std::size_t depth = 0;
  long width = 1;
  for (long reached = 1; reached < ranks; reached += width, ++depth) width *= peers;
  return depth;
}

// With one level it would be the linear barrier.
inline std::vector<int> tree_trials(int ranks) {
  std::vector<int> found = smallest_for_each(2, most_tried, [&](int peers) { return tree_depth(ranks, peers); });
  std::erase_if(found, [&](int peers) { return tree_depth(ranks, peers) < 2; });
  return found;
}

}  // namespace barriers

inline constexpr std::array barrier_algorithms{
    BarrierAlgorithm{"linear", "", "linear barrier", barriers::linear, barriers::no_peers},
    BarrierAlgorithm{"dissemination", "", "1-way dissemination",
                     [](int ranks, int rank, int) { return barriers::n_way(ranks, rank, 1); }, nullptr},
    BarrierAlgorithm{"n-way-dissemination", "n", "#-way dissemination", barriers::n_way, barriers::n_way_trials},
    BarrierAlgorithm{"combining-tree", "k", "#-ary tree", barriers::tree, barriers::tree_trials},
};

// Null for a name that the table doesn't have.
[[nodiscard]] constexpr const BarrierAlgorithm* find_barrier(std::string_view name) {
  for (const BarrierAlgorithm& one : barrier_algorithms) {
    if (one.name == name) return &one;
  }
  return nullptr;
}

}  // namespace chiplog
