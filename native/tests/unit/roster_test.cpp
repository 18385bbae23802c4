#include "collectives/roster.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <string>

#include "collectives/board.hpp"

namespace chiplog::collectives {
namespace {

// No other test, and no other run of this one, has it.
std::string own_group(const char* name) { return "test-" + std::to_string(getpid()) + "-" + name; }

TEST(Roster, FindsAProcessThatHasAnnouncedItselfAndItsBoard) {
  Board board;
  Roster roster(own_group("finds"));
  ASSERT_TRUE(roster.announce(3, board.address()));
  EXPECT_TRUE(roster.has(std::array{3}));
  const auto boards = roster.boards_of(std::array{3}, board_bytes);
  ASSERT_EQ(boards.size(), 1U);
  const int slot = board.claim().value();
  const std::uint64_t barrier = 7 * AlternatingFlag::step;
  flags_on(board.data(), slot)->entered.announce(barrier);
  EXPECT_EQ(flags_on(boards[0], slot)->entered.latest(), barrier);
}

TEST(Roster, HasNoRankThatHasNotAnnouncedItselfNorOneOfAnotherGroup) {
  Board board;
  Roster roster(own_group("one"));
  Roster other(own_group("other"));
  ASSERT_TRUE(roster.announce(0, board.address()));
  EXPECT_FALSE(roster.has(std::array{0, 1}));
  EXPECT_FALSE(other.has(std::array{0}));
}

TEST(Roster, ANameVanishesWithItsProcess) {
  const std::string group = own_group("vanishes");
  const pid_t child = fork();
  if (child == 0) {
    Board board;
    Roster roster(group);
    _exit(roster.announce(0, board.address()) ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_EQ(status, 0);
  EXPECT_FALSE(Roster(group).has(std::array{0}));
}

TEST(Roster, ABoardThatCannotBeOpenedIsNoBoard) {
  Roster roster(own_group("closed"));
  ASSERT_TRUE(roster.announce(0, NodeMemoryAddress{.process = getpid(), .descriptor = 9999, .token = 1}));
  EXPECT_TRUE(roster.has(std::array{0}));
  EXPECT_TRUE(roster.boards_of(std::array{0}, board_bytes).empty());
}

TEST(Roster, ParsesNothingButWholeNamesOfItsGroup) {
  int rank = -1;
  NodeMemoryAddress board;
  const std::string before = "0000000000000000: 00000002 00000000 00000000 0002 01 24081 ";
  EXPECT_TRUE(parse_announcement(before + "@chiplog/job/12/345/6/7f", "job", rank, board));
  EXPECT_EQ(rank, 12);
  EXPECT_EQ(board.process, 345);
  EXPECT_EQ(board.descriptor, 6);
  EXPECT_EQ(board.token, 0x7fU);
  for (const char* name :
       {"@chiplog/jobs/12/345/6/7f", "@chiplog/job/12/345/6", "@chiplog/job/12/345/6/7f/8", "@chiplog/job/-1/345/6/7f",
        "@chiplog/job/x/345/6/7f", "@chiplog/job/", "/run/chiplog/job/1", ""}) {
    EXPECT_FALSE(parse_announcement(before + name, "job", rank, board)) << name;
  }
}

TEST(Board, GivesEachSlotOnceAndAgainWhenItIsReleased) {
  Board board;
  const int first = board.claim().value();
  const int second = board.claim().value();
  EXPECT_NE(first, second);
  board.release(first);
  EXPECT_EQ(board.claim(), first);
}

TEST(Board, HasNoMoreSlotsThanItsMemory) {
  Board board;
  for (int slot = 0; slot < board_slots; ++slot) ASSERT_TRUE(board.claim());
  EXPECT_FALSE(board.claim());
}

}  // namespace
}  // namespace chiplog::collectives
