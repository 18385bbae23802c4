#include "core/node_memory.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <utility>

namespace chiplog {
namespace {

constexpr std::size_t bytes = 4096;

TEST(NodeMemory, WhatOneWritesTheOtherReadsAlsoWhenTheMakerHasClosedIt) {
  NodeMemory made = NodeMemory::make(bytes);
  ASSERT_NE(made.data(), nullptr);
  const NodeMemory opened = NodeMemory::open(made.address(), bytes);
  ASSERT_NE(opened.data(), nullptr);
  made.close();
  EXPECT_EQ(opened.data()[bytes - 1], std::byte{0});
  made.data()[bytes - 1] = std::byte{42};
  EXPECT_EQ(opened.data()[bytes - 1], std::byte{42});
}

TEST(NodeMemory, AnotherFileAtTheSameAddressIsRefused) {
  const NodeMemory made = NodeMemory::make(bytes);
  NodeMemoryAddress address = made.address();
  ++address.token;
  EXPECT_EQ(NodeMemory::open(address, bytes).data(), nullptr);
  EXPECT_EQ(NodeMemory::open(address, bytes).failure(), "it is another file");
  EXPECT_EQ(NodeMemory::open(made.address(), bytes / 2).failure(), "it has another size");
  EXPECT_EQ(NodeMemory::open(made.address(), bytes / 2).data(), nullptr);
  EXPECT_EQ(NodeMemory::open(NodeMemoryAddress{}, bytes).data(), nullptr);
}

TEST(NodeMemory, MovingLeavesNothingBehind) {
  NodeMemory made = NodeMemory::make(bytes);
  const NodeMemory moved = std::move(made);
  EXPECT_NE(moved.data(), nullptr);
}

TEST(NodeMemory, SaysWhyThereIsNone) {
  EXPECT_EQ(NodeMemory::open({.process = 0, .descriptor = 1, .token = 0}, bytes).failure(),
            "No such file or directory");
}

TEST(NodeMemory, TheSystemGivesUpThePlaceOfAProcessThatHasEnded) {
  const NodeMemory made = NodeMemory::make(bytes);
  const NodeMemory own = NodeMemory::open(made.address(), bytes);
  int ready[2];
  ASSERT_EQ(pipe(ready), 0);
  const pid_t child = fork();
  if (child == 0) {
    NodeMemory opened = NodeMemory::open(made.address(), bytes);
    const char told = opened.hold(1) ? '+' : '-';
    if (write(ready[1], &told, 1) == 1) pause();
    _exit(1);
  }
  char told = 0;
  ASSERT_EQ(read(ready[0], &told, 1), 1);
  EXPECT_EQ(told, '+');
  EXPECT_TRUE(own.is_held(1));
  EXPECT_FALSE(own.is_held(0));
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  EXPECT_FALSE(own.is_held(1));
  close(ready[0]);
  close(ready[1]);
}

}  // namespace
}  // namespace chiplog
