#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <vector>

#include "core/barrier_algorithms.hpp"

namespace chiplog {
namespace {

using ScheduleOf = std::function<BarrierSchedule(int ranks, int rank)>;

struct Rank {
  BarrierSchedule schedule;
  std::set<int> heard_of;
  std::map<int, std::set<int>> inbox;  // by sender: of whom it had heard then
  std::size_t round = 0;
  bool has_told = false;

  [[nodiscard]] bool is_done() const { return round == schedule.size(); }
};

void tell(std::vector<Rank>& all, int rank) {
  Rank& self = all[static_cast<std::size_t>(rank)];
  for (const int other : self.schedule[self.round].tells) {
    const bool first = all[static_cast<std::size_t>(other)].inbox.emplace(rank, self.heard_of).second;
    EXPECT_TRUE(first) << "two messages from one rank to another";
  }
  self.has_told = true;
}

// A rank knows only what it has waited for: other messages might have come later.
bool hear(Rank& self) {
  const std::vector<int>& hears = self.schedule[self.round].hears;
  if (!std::all_of(hears.begin(), hears.end(), [&](int other) { return self.inbox.contains(other); })) return false;
  for (const int other : hears) self.heard_of.insert(self.inbox[other].begin(), self.inbox[other].end());
  ++self.round;
  self.has_told = false;
  return true;
}

// All ranks' schedules, run as far as they go. Of whom each has heard at the end of its own, or nobody before.
std::vector<std::set<int>> heard_at_the_end(int ranks, const ScheduleOf& schedule_of) {
  std::vector<Rank> all;
  for (int rank = 0; rank < ranks; ++rank) all.push_back({schedule_of(ranks, rank), {rank}, {}, 0, false});
  for (bool moved = true; moved;) {
    moved = false;
    for (int rank = 0; rank < ranks; ++rank) {
      Rank& self = all[static_cast<std::size_t>(rank)];
      if (self.is_done()) continue;
      moved = !self.has_told || moved;
      if (!self.has_told) tell(all, rank);
      moved = hear(self) || moved;
    }
  }
  std::vector<std::set<int>> heard;
  for (const Rank& one : all) heard.push_back(one.is_done() ? one.heard_of : std::set<int>{});
  return heard;
}

bool is_barrier(int ranks, const ScheduleOf& schedule_of) {
  const std::vector<std::set<int>> heard = heard_at_the_end(ranks, schedule_of);
  return std::all_of(heard.begin(), heard.end(),
                     [&](const std::set<int>& one) { return one.size() == static_cast<std::size_t>(ranks); });
}

std::size_t messages_of(int ranks, const ScheduleOf& schedule_of) {
  std::size_t messages = 0;
  for (int rank = 0; rank < ranks; ++rank) {
    for (const BarrierRound& round : schedule_of(ranks, rank)) messages += round.tells.size();
  }
  return messages;
}

TEST(BarrierSchedule, EveryAlgorithmOfTheTableIsABarrierByAnyNumberOfPeers) {
  for (const BarrierAlgorithm& one : barrier_algorithms) {
    for (int ranks = 1; ranks <= 40; ++ranks) {
      for (int peers = 1; peers <= (one.takes_peers() ? 8 : 1); ++peers) {
        EXPECT_TRUE(is_barrier(ranks, [&](int all, int rank) { return one.schedule(all, rank, peers); }))
            << one.name << ", " << ranks << " ranks, " << peers << " peers";
      }
    }
  }
}

TEST(BarrierSchedule, TrialsAreOfNumbersOfPeersThatTheAlgorithmTakes) {
  for (const BarrierAlgorithm& one : barrier_algorithms) {
    if (one.trials == nullptr) continue;
    for (int ranks = 2; ranks <= 200; ++ranks) {
      for (const int peers : one.trials(ranks)) EXPECT_EQ(peers > 0, one.takes_peers()) << one.name << ", " << ranks;
    }
  }
}

TEST(BarrierSchedule, LinearIsABarrierOfTheFewestMessages) {
  for (int ranks = 2; ranks <= 40; ++ranks) {
    const auto linear = [](int all, int rank) { return find_barrier("linear")->schedule(all, rank, 0); };
    EXPECT_EQ(messages_of(ranks, linear), 2U * static_cast<unsigned>(ranks - 1));
  }
}

TEST(BarrierSchedule, ATreeHasTheFewestMessagesAndNoRankWaitsForMoreThanKAtOnce) {
  for (int ranks = 2; ranks <= 40; ++ranks) {
    for (int peers = 1; peers <= 8; ++peers) {
      const auto tree = [&](int all, int rank) { return find_barrier("combining-tree")->schedule(all, rank, peers); };
      EXPECT_EQ(messages_of(ranks, tree), 2U * static_cast<unsigned>(ranks - 1));
      for (int rank = 0; rank < ranks; ++rank) {
        for (const BarrierRound& round : tree(ranks, rank)) {
          EXPECT_LE(round.hears.size(), static_cast<std::size_t>(peers));
        }
      }
    }
  }
}

TEST(BarrierSchedule, TreesWorthATrialAreTheSmallestOfEachDepthAndNoneIsLinear) {
  const BarrierAlgorithm& tree = *find_barrier("combining-tree");
  EXPECT_EQ(tree.trials(3), std::vector<int>{});
  EXPECT_EQ(tree.trials(4), std::vector<int>{2});
  EXPECT_EQ(tree.trials(64), (std::vector<int>{2, 3, 4, 8}));
  EXPECT_EQ(tree.text(3), "3-ary tree");
}

TEST(BarrierSchedule, TheTestCatchesARankThatIsNotWaitedFor) {
  const auto impatient = [](int ranks, int rank) {
    BarrierSchedule schedule = find_barrier("linear")->schedule(ranks, rank, 0);
    if (rank == 0) schedule.front().hears.pop_back();
    return schedule;
  };
  EXPECT_FALSE(is_barrier(4, impatient));
}

TEST(BarrierSchedule, ATitleNamesTheNumberOfPeers) {
  EXPECT_EQ(find_barrier("n-way-dissemination")->text(3), "3-way dissemination");
  EXPECT_EQ(find_barrier("linear")->text(0), "linear barrier");
  EXPECT_EQ(find_barrier("no such barrier"), nullptr);
}

}  // namespace
}  // namespace chiplog
