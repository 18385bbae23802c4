#include "collectives/node_memory.hpp"

#include <gtest/gtest.h>

#include <utility>

namespace chiplog::collectives {
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
  MemoryAddress address = made.address();
  ++address.token;
  EXPECT_EQ(NodeMemory::open(address, bytes).data(), nullptr);
  EXPECT_EQ(NodeMemory::open(made.address(), bytes / 2).data(), nullptr);
  EXPECT_EQ(NodeMemory::open(MemoryAddress{}, bytes).data(), nullptr);
}

TEST(NodeMemory, MovingLeavesNothingBehind) {
  NodeMemory made = NodeMemory::make(bytes);
  const NodeMemory moved = std::move(made);
  EXPECT_NE(moved.data(), nullptr);
}

}  // namespace
}  // namespace chiplog::collectives
