#include "collectives/short_lock.hpp"

#include <gtest/gtest.h>

#include <mutex>
#include <thread>
#include <vector>

namespace chiplog::collectives {
namespace {

TEST(ShortLock, LetsOneThreadInAtATime) {
  constexpr int threads = 8;  // more than many a machine has cores
  constexpr int turns = 20'000;
  ShortLock lock;
  long count = 0;
  std::vector<std::jthread> all;
  for (int thread = 0; thread < threads; ++thread) {
    all.emplace_back([&] {
      for (int turn = 0; turn < turns; ++turn) {
        const std::lock_guard held(lock);
        ++count;
      }
    });
  }
  all.clear();
  EXPECT_EQ(count, long{threads} * turns);
}

}  // namespace
}  // namespace chiplog::collectives
