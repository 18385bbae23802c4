#include "collectives/node_flags.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "collectives/patience.hpp"

namespace chiplog::collectives {
namespace {

constexpr int barriers = 200;

struct Memory {
  explicit Memory(int ranks) : bytes(NodeFlags::bytes(ranks)), data(new (std::align_val_t{4096}) std::byte[bytes]{}) {}
  ~Memory() { operator delete[](data, std::align_val_t{4096}); }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;

  std::size_t bytes;
  std::byte* data;
};

using Meeting = std::function<void(NodeFlags&)>;

auto yielding() {
  return Waiting(Patience{true}, [] { return 0; });
}

// How often a rank left a barrier before another one had entered it. What a rank writes before a barrier is read after
// it without a lock or an atomic: a barrier that orders nothing is a race to the thread sanitizer.
int early_leaves(int ranks, const Meeting& meeting) {
  Memory memory(ranks);
  std::vector<int> entered(static_cast<std::size_t>(ranks), 0);
  std::atomic<int> early{0};
  const auto run = [&](int rank) {
    NodeFlags flags(memory.data, ranks, rank, Patience{true}.looks());
    for (int barrier = 1; barrier <= barriers; ++barrier) {
      entered[static_cast<std::size_t>(rank)] = barrier;
      meeting(flags);
      for (const int other : entered) early += other < barrier ? 1 : 0;
      meeting(flags);
    }
  };
  std::vector<std::jthread> threads;
  for (int rank = 0; rank < ranks; ++rank) threads.emplace_back(run, rank);
  threads.clear();
  return early;
}

TEST(NodeFlags, NoRankLeavesBeforeTheLastHasEntered) {
  for (const int ranks : {1, 2, 3, 4, 9, 10, 20}) {
    EXPECT_EQ(early_leaves(ranks, [](NodeFlags& flags) { EXPECT_EQ(flags.meet(yielding()), 0); }), 0) << ranks;
  }
}

TEST(NodeFlags, BothHalvesAreABarrierAlsoForTwo) {
  for (const int ranks : {2, 5, 12}) {
    const auto halves = [](NodeFlags& flags) {
      EXPECT_EQ(flags.gather(yielding()), 0);
      EXPECT_EQ(flags.release(yielding()), 0);
    };
    EXPECT_EQ(early_leaves(ranks, halves), 0) << ranks;
  }
}

TEST(NodeFlags, AnErrorWhileWaitingIsReturned) {
  for (const int ranks : {2, 3, 12}) {
    Memory memory(ranks);
    NodeFlags flags(memory.data, ranks, 0, 1);
    EXPECT_EQ(flags.meet([] { return 7; }), 7);
  }
}

// Not under the thread sanitizer: there this ends the program, which shows the same.
#ifndef __SANITIZE_THREAD__
TEST(NodeFlags, TheTestCatchesABarrierOfOneHalf) {
  const auto half = [](NodeFlags& flags) { EXPECT_EQ(flags.gather(yielding()), 0); };
  int early = 0;
  for (int attempt = 0; attempt < 20 && early == 0; ++attempt) early = early_leaves(4, half);
  EXPECT_GT(early, 0);
}
#endif

}  // namespace
}  // namespace chiplog::collectives
