#include "transports/sim/fibers.hpp"

#include <gtest/gtest.h>

#include <string>

#include "chiplog/error.hpp"

namespace chiplog::sim {
namespace {

TEST(Fibers, RunWhileTheOthersWait) {
  Fibers fibers;
  std::string order;
  int turn = 0;
  const auto body = [&](int self) {
    return [&, self] {
      for (int i = 0; i < 3; ++i) {
        fibers.wait_until([&] { return turn % 3 == self; });
        order += static_cast<char>('a' + self);
        ++turn;
      }
    };
  };
  fibers.run({body(0), body(1), body(2)});
  EXPECT_EQ(order, "abcabcabc");
}

TEST(Fibers, ThatAllWaitForEachOtherTimeOut) {
  Fibers fibers;
  const auto stuck = [&] { fibers.wait_until([] { return false; }); };
  EXPECT_THROW(fibers.run({stuck, stuck}), Error);
}

TEST(Fibers, GoOnWhereSomethingHappensWhenAllWait) {
  Fibers fibers;
  int time = 0;
  fibers.when_all_wait([&] { return ++time <= 7; });
  std::string order;
  fibers.run({[&] {
                fibers.wait_until([&] { return time >= 5; });
                order += 'a';
              },
              [&] {
                fibers.wait_until([&] { return time >= 2; });
                order += 'b';
              }});
  EXPECT_EQ(order, "ba");
  EXPECT_EQ(time, 5);
  const auto never = [&] { fibers.wait_until([] { return false; }); };
  EXPECT_THROW(fibers.run({never, never}), Error);
}

TEST(Fibers, ThatWaitForOneThatEndedLoseAPeer) {
  Fibers fibers;
  bool lost = false;
  fibers.run({[] {},
              [&] {
                try {
                  fibers.wait_until([] { return false; });
                } catch (const PeerLost&) {
                  lost = true;
                }
              }});
  EXPECT_TRUE(lost);
}

TEST(Fibers, ThrowWhatWentWrongAndNotWhatFollowedFromIt) {
  Fibers fibers;
  EXPECT_THROW(fibers.run({[&] { fibers.wait_until([] { return false; }); }, [] { throw Corrupt("x"); }}), Corrupt);
}

}  // namespace
}  // namespace chiplog::sim
