#include "core/dissemination.hpp"

#include <gtest/gtest.h>

#include <set>
#include <vector>

namespace chiplog {
namespace {

// By rank: of whom it has heard, directly or not, after all rounds.
std::vector<std::set<int>> known_after_all_rounds(int ranks, const std::vector<std::vector<int>>& rounds) {
  std::vector<std::set<int>> known;
  for (int rank = 0; rank < ranks; ++rank) known.push_back({rank});
  for (const std::vector<int>& steps : rounds) {
    const std::vector<std::set<int>> before = known;
    for (int rank = 0; rank < ranks; ++rank) {
      for (const int step : steps) {
        const std::set<int>& heard = before[static_cast<std::size_t>((rank - step + ranks) % ranks)];
        known[static_cast<std::size_t>(rank)].insert(heard.begin(), heard.end());
      }
    }
  }
  return known;
}

bool everybody_knows_all(int ranks, const std::vector<std::vector<int>>& rounds) {
  for (const std::set<int>& heard : known_after_all_rounds(ranks, rounds)) {
    if (heard.size() != static_cast<std::size_t>(ranks)) return false;
  }
  return true;
}

TEST(Dissemination, EverybodyHearsOfEverybodyAndOneMessageLessIsNotEnough) {
  for (int ranks = 1; ranks <= 64; ++ranks) {
    for (int peers = 1; peers <= 8; ++peers) {
      std::vector<std::vector<int>> rounds = dissemination_steps(ranks, peers);
      EXPECT_TRUE(everybody_knows_all(ranks, rounds)) << ranks << " ranks, n = " << peers;
      if (ranks == 1) continue;
      rounds.back().pop_back();
      EXPECT_FALSE(everybody_knows_all(ranks, rounds)) << ranks << " ranks, n = " << peers;
    }
  }
}

TEST(Dissemination, RoundsAreTheLogarithmToTheBaseNPlusOne) {
  EXPECT_EQ(dissemination_steps(1, 1).size(), 0U);
  EXPECT_EQ(dissemination_steps(64, 1).size(), 6U);
  EXPECT_EQ(dissemination_steps(64, 3).size(), 3U);
  EXPECT_EQ(dissemination_steps(65, 3).size(), 4U);
  EXPECT_EQ(dissemination_steps(64, 63).size(), 1U);
  EXPECT_EQ(dissemination_steps(8, 1000000000).size(), 1U);
}

TEST(Dissemination, NoTwoMessagesGoFromOneRankToTheSameOther) {
  for (int ranks = 1; ranks <= 64; ++ranks) {
    for (int peers = 1; peers <= 8; ++peers) {
      std::set<int> seen;
      for (const std::vector<int>& steps : dissemination_steps(ranks, peers)) {
        for (const int step : steps) EXPECT_TRUE(step > 0 && step < ranks && seen.insert(step).second);
      }
    }
  }
}

}  // namespace
}  // namespace chiplog
