#include "simulation/goal.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>

namespace chiplog::simulation {
namespace {

// Hands out `text` in pieces of at most `piece` bytes.
ByteSource source_of(std::string_view text, std::size_t piece) {
  return [text, piece](std::span<char> into) mutable {
    const std::size_t bytes = std::min({piece, into.size(), text.size()});
    std::copy_n(text.begin(), bytes, into.begin());
    text.remove_prefix(bytes);
    return bytes;
  };
}

std::string written(const Schedule& schedule) {
  std::string text;
  write_goal(schedule, [&](std::span<const char> bytes) { text.append(bytes.data(), bytes.size()); });
  return text;
}

constexpr std::string_view text = R"(// two ranks
num_ranks 2
rank 0 {
  first: send 1024b to 1 tag 7 cpu 1 nic 2
  second: calc 5000 /* nanoseconds,
                       one CPU */ cpu 1
  second requires first
  recv 8 b from -1 tag -1
  third: recv 8b from 1
  third irequires second
}
rank 1 { recv 1024b from 0 tag 7
send 8b to 0
send 8b to 0 tag 3 }
)";

constexpr std::string_view canonical = R"(num_ranks 2

rank 0 {
l1: send 1024b to 1 tag 7 cpu 1 nic 2
l2: calc 5000 cpu 1
l3: recv 8b from -1 tag -1
l4: recv 8b from 1 tag 0
l2 requires l1
l4 irequires l2
}

rank 1 {
l1: recv 1024b from 0 tag 7
l2: send 8b to 0 tag 0
l3: send 8b to 0 tag 3
}
)";

TEST(Goal, ReadsTheSameScheduleWhateverPiecesTheTextComesIn) {
  for (const std::size_t piece : {1, 2, 3, 7, 64, 100000}) {
    const OwnedSchedule read = read_goal(source_of(text, piece));
    EXPECT_EQ(written(read.view()), canonical) << piece;
    EXPECT_EQ(read.lines, (std::vector<std::uint32_t>{4, 5, 8, 9, 12, 13, 14})) << piece;
  }
}

TEST(Goal, WhatItWritesItReadsAgain) {
  const OwnedSchedule read = read_goal(source_of(canonical, 4096));
  EXPECT_EQ(written(read.view()), canonical);
}

TEST(Goal, EveryBeginningOfATextIsRefusedWithALineOfIt) {
  for (std::size_t bytes = 0; bytes + 2 < text.size(); ++bytes) {
    try {
      (void)read_goal(source_of(text.substr(0, bytes), 5));
      ADD_FAILURE() << "accepted the first " << bytes << " bytes";
    } catch (const GoalError& error) {
      EXPECT_GE(error.line(), 1U);
      EXPECT_LE(error.line(), 15U);
    }
  }
}

TEST(Goal, EndlessWordsAndNumbersAreRefused) {
  EXPECT_THROW((void)read_goal(source_of(std::string(1 << 22, 'a'), 1 << 20)), GoalError);
  EXPECT_THROW((void)read_goal(source_of("num_ranks " + std::string(1 << 22, '0'), 1 << 20)), GoalError);
}

}  // namespace
}  // namespace chiplog::simulation
