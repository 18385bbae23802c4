#include "core/waiting.hpp"

#include <gtest/gtest.h>

#include <stdexcept>
#include <vector>

#include "transports/posted_to.hpp"

namespace chiplog {
namespace {

using std::chrono::hours;
using std::chrono::nanoseconds;

int looks_until_rest(Wait& wait) {
  int looks = 1;
  while (!wait.is_rest_due()) ++looks;
  return looks;
}

TEST(Wait, ARestIsDueAfterAsManyLooksInVainAsThePolicySays) {
  Wait wait({.time_limit = hours(1), .looks = 5});
  EXPECT_EQ(looks_until_rest(wait), 5);
  EXPECT_EQ(looks_until_rest(wait), 5);
}

TEST(Wait, RanksThatOutnumberCoresRestSoonerAndDoNotCheckAtEachRest) {
  for (const LookCost cost : {LookCost::memory, LookCost::library}) {
    const WaitPolicy alone = WaitPolicy::make(cost, false, hours(1));
    const WaitPolicy crowded = WaitPolicy::make(cost, true, hours(1));
    EXPECT_LT(crowded.looks, alone.looks);
    EXPECT_EQ(alone.rests_between_checks, 1U);
    EXPECT_GT(crowded.rests_between_checks, 1U);
  }
}

TEST(Wait, TheFirstOfSeveralRestsIsACheck) {
  Wait wait({.time_limit = hours(1), .looks = 1, .rests_between_checks = 3});
  std::vector<bool> checks;
  for (int i = 0; i < 7; ++i) checks.push_back(wait.rest());
  EXPECT_EQ(checks, (std::vector<bool>{true, false, false, true, false, false, true}));
}

TEST(Wait, TheTimeLimitCountsFromTheFirstCheckAndAnewAfterSomethingCame) {
  Wait patient({.time_limit = hours(1), .looks = 1});
  EXPECT_TRUE(patient.rest());
  EXPECT_FALSE(patient.is_late());
  Wait impatient({.time_limit = nanoseconds(1), .looks = 1});
  (void)impatient.rest();
  const Wait::Time first = impatient.now();
  while (impatient.now() == first) (void)impatient.rest();
  EXPECT_TRUE(impatient.is_late());
  impatient.begin_again();
  (void)impatient.rest();
  EXPECT_FALSE(impatient.is_late());
}

TEST(Wait, AnIntervalHasPassedOnceForEachTimeThatItPasses) {
  Wait wait({.time_limit = hours(1), .looks = 1});
  (void)wait.rest();
  EXPECT_FALSE(wait.has_passed(hours(1)));
  const Wait::Time first = wait.now();
  while (wait.now() == first) (void)wait.rest();
  EXPECT_TRUE(wait.has_passed(nanoseconds(1)));
  EXPECT_FALSE(wait.has_passed(nanoseconds(1)));
}

TEST(PostedTo, EachPeerIsWaitedForOnceAndThenForgotten) {
  PostedTo posted(4);
  for (const Rank peer : {2, 0, 2, 3, 0}) posted.add(peer);
  std::vector<Rank> waited;
  posted.wait_for_each([&](Rank peer) { waited.push_back(peer); });
  EXPECT_EQ(waited, (std::vector<Rank>{3, 0, 2}));
  posted.wait_for_each([&](Rank peer) { waited.push_back(peer); });
  EXPECT_EQ(waited.size(), 3U);
  posted.add(2);
  EXPECT_EQ(posted.peers(), std::vector<Rank>{2});
}

TEST(PostedTo, APeerWhoseWaitFailsStays) {
  PostedTo posted(2);
  posted.add(1);
  EXPECT_THROW(posted.wait_for_each([](Rank) { throw std::runtime_error("lost"); }), std::runtime_error);
  EXPECT_EQ(posted.peers(), std::vector<Rank>{1});
}

}  // namespace
}  // namespace chiplog
