#include "core/pinning.hpp"

#include <gtest/gtest.h>

#include "chiplog/error.hpp"

namespace chiplog {
namespace {

using Order = std::vector<int>;

// Two sockets of two cores with two threads each, numbered as many firmwares do: sockets alternate, threads come last.
const std::vector<Cpu> two_sockets{{0, 0, 0, 0, 0}, {1, 1, 1, 1, 0}, {2, 0, 0, 0, 0}, {3, 1, 1, 1, 0},
                                   {4, 0, 0, 0, 1}, {5, 1, 1, 1, 1}, {6, 0, 0, 0, 1}, {7, 1, 1, 1, 1}};

TEST(Placement, FilledTakesTheCoresOfASocketAfterThoseOfAnotherAndSecondThreadsLast) {
  EXPECT_EQ(placement_order(Placement::filled, two_sockets), (Order{0, 2, 1, 3, 4, 6, 5, 7}));
}

TEST(Placement, RoundRobinTakesACoreOfEachSocketInTurn) {
  EXPECT_EQ(placement_order(Placement::round_robin, two_sockets), (Order{0, 1, 2, 3, 4, 5, 6, 7}));
}

TEST(Placement, RoundRobinTakesNumaNodesOfOneSocketInTurn) {
  const std::vector<Cpu> cpus{{0, 0, 0}, {1, 0, 0}, {2, 0, 1}, {3, 0, 1}};
  EXPECT_EQ(placement_order(Placement::round_robin, cpus), (Order{0, 2, 1, 3}));
  EXPECT_EQ(placement_order(Placement::filled, cpus), (Order{0, 1, 2, 3}));
}

TEST(Placement, IsTheSameOnOneSocket) {
  const std::vector<Cpu> cpus{{0, 0}, {1, 0}, {2, 0}};
  EXPECT_EQ(placement_order(Placement::round_robin, cpus), placement_order(Placement::filled, cpus));
}

TEST(Pinning, ReadsPlacementsNoneAndAList) {
  EXPECT_EQ(parse_pin("filled", 2).kind, PinRequest::Kind::filled);
  EXPECT_EQ(parse_pin("round-robin", 2).kind, PinRequest::Kind::round_robin);
  EXPECT_EQ(parse_pin("none", 2).kind, PinRequest::Kind::none);
  EXPECT_EQ(parse_pin("3,1", 2).cpus, (std::vector<int>{3, 1}));
}

TEST(Pinning, RefusesListsThatDoNotFitTheRanks) {
  for (const char* list : {"0", "0,1,2", "", "0,", "a,b", "-1,0"}) {
    EXPECT_THROW((void)parse_pin(list, 2), UsageError) << list;
  }
}

}  // namespace
}  // namespace chiplog
