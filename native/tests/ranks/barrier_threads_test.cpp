// The barrier library's ranks as threads, without an MPI: on one node, and on several whose first ranks send messages.
#include <gtest/gtest.h>
#include <sched.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "collectives/node_flags.hpp"
#include "collectives/patience.hpp"
#include "collectives/tuning.hpp"
#include "core/barrier_algorithms.hpp"
#include "core/node_memory.hpp"
#include "thread_ranks.hpp"

namespace chiplog::collectives {
namespace {

using testing::early_leaves;
using testing::Meeting;

constexpr Patience alone{false};
constexpr Patience crowded{true};

auto waiting(Patience patience) {
  return Waiting(patience, [] { return 0; });
}

// One rank's end. In the library each process has a mapping of its own; here all threads share one.
NodeFlags flags_of(const NodeMemory& memory, int ranks, int rank, Patience patience) {
  std::vector<RankFlags*> flags;
  for (int one = 0; one < ranks; ++one) flags.push_back(reinterpret_cast<RankFlags*>(memory.data()) + one);
  return {std::move(flags), rank, patience.looks()};
}

using OneBarrier = int (*)(NodeFlags&, Patience);

int whole(NodeFlags& flags, Patience patience) { return flags.meet(waiting(patience)); }
int both_halves(NodeFlags& flags, Patience patience) {
  const int error = flags.gather(waiting(patience));
  return error != 0 ? error : flags.release(waiting(patience));
}
int first_half(NodeFlags& flags, Patience patience) { return flags.gather(waiting(patience)); }

int at_once_or_late(NodeFlags& flags, Patience patience) {
  PairFlags lent = flags.lend();
  const bool is_over = lent.meet_at_once(patience.looks());
  flags.take_back(lent);
  return is_over ? 0 : flags.meet_late(waiting(patience));
}

int early_leaves_on_one_node(int ranks, int barriers, Patience patience, OneBarrier barrier) {
  const NodeMemory memory = NodeMemory::make(static_cast<std::size_t>(ranks) * sizeof(RankFlags));
  return early_leaves(ranks, barriers, [&](int rank) -> Meeting {
    return [flags = flags_of(memory, ranks, rank, patience), patience, barrier]() mutable {
      EXPECT_EQ(barrier(flags, patience), 0);
    };
  });
}

TEST(BarrierThreads, RanksWithACoreEachMeet) {
  EXPECT_EQ(early_leaves_on_one_node(1, 1000, alone, whole), 0);
  EXPECT_EQ(early_leaves_on_one_node(2, 20'000, alone, whole), 0);
}

TEST(BarrierThreads, PairsMeetAtOnceOrLate) {
  EXPECT_EQ(early_leaves_on_one_node(2, 20'000, alone, at_once_or_late), 0);
  EXPECT_EQ(early_leaves_on_one_node(2, 400, crowded, at_once_or_late), 0);
}

TEST(BarrierThreads, MoreRanksThanCoresMeet) {
  for (const int ranks : {2, 3, 4, 8, 9, 20}) {
    EXPECT_EQ(early_leaves_on_one_node(ranks, 400, crowded, whole), 0) << ranks;
  }
}

TEST(BarrierThreads, ACrowdThatTakesItselfForAloneMeets) {
  for (const int ranks : {4, 10}) EXPECT_EQ(early_leaves_on_one_node(ranks, 200, alone, whole), 0) << ranks;
}

TEST(BarrierThreads, BothHalvesAreABarrierAlsoForTwo) {
  for (const int ranks : {2, 5, 12}) EXPECT_EQ(early_leaves_on_one_node(ranks, 400, crowded, both_halves), 0) << ranks;
}

TEST(BarrierThreads, AnErrorWhileWaitingIsReturned) {
  for (const int ranks : {2, 3, 12}) {
    const NodeMemory memory = NodeMemory::make(static_cast<std::size_t>(ranks) * sizeof(RankFlags));
    NodeFlags flags = flags_of(memory, ranks, 0, crowded);
    EXPECT_EQ(flags.meet([] { return 7; }), 7);
  }
}

// Messages from each node to each other one: how many have been sent.
class Post {
 public:
  explicit Post(int nodes) : nodes_(nodes), sent_(static_cast<std::size_t>(nodes * nodes)) {}

  void tell(int from, int to) { at(from, to).fetch_add(1, std::memory_order_release); }
  void await(int from, int to, std::uint64_t number) {
    while (at(from, to).load(std::memory_order_acquire) < number) sched_yield();
  }

 private:
  std::atomic<std::uint64_t>& at(int from, int to) { return sent_[static_cast<std::size_t>(from * nodes_ + to)]; }

  int nodes_;
  std::vector<std::atomic<std::uint64_t>> sent_;
};

// The rounds of the first rank of a node, as the library's over an MPI.
class Leader {
 public:
  Leader(Post& post, int nodes, int node) : post_(post), node_(node), heard_(static_cast<std::size_t>(nodes), 0) {}

  void run(const BarrierSchedule& schedule) {
    for (const BarrierRound& round : schedule) {
      for (const int other : round.tells) post_.tell(node_, other);
      for (const int other : round.hears) post_.await(other, node_, ++heard_[static_cast<std::size_t>(other)]);
    }
  }

 private:
  Post& post_;
  int node_;
  std::vector<std::uint64_t> heard_;
};

BarrierSchedule schedule_of(const Choice& choice, int nodes, int node) {
  if (choice.algorithm != nullptr) return choice.algorithm->schedule(nodes, node, choice.peers);
  return find_barrier("linear")->schedule(nodes, node, 0);  // stands for the MPI's own
}

// What a leader decides for itself: first by settings, then all that a trial compares, in turn.
std::vector<BarrierSchedule> schedules_in_turn(int nodes, int node) {
  std::vector<BarrierSchedule> all = {schedule_of(choose(nodes), nodes, node)};
  for (const Choice& choice : candidates(nodes)) all.push_back(schedule_of(choice, nodes, node));
  return all;
}

// One rank of one of several nodes.
class Member {
 public:
  Member(NodeFlags flags, std::unique_ptr<Leader> leader, std::vector<BarrierSchedule> schedules)
      : flags_(flags), leader_(std::move(leader)), schedules_(std::move(schedules)) {}

  void meet() {
    EXPECT_EQ(flags_.gather(waiting(crowded)), 0);
    if (leader_) leader_->run(schedules_[barrier_++ % schedules_.size()]);
    EXPECT_EQ(flags_.release(waiting(crowded)), 0);
  }

 private:
  NodeFlags flags_;
  std::unique_ptr<Leader> leader_;  // null but on rank 0
  std::vector<BarrierSchedule> schedules_;
  std::size_t barrier_ = 0;
};

int early_leaves_on_nodes(int nodes, int ranks_each) {
  std::vector<NodeMemory> memories;
  for (int node = 0; node < nodes; ++node)
    memories.push_back(NodeMemory::make(static_cast<std::size_t>(ranks_each) * sizeof(RankFlags)));
  Post post(nodes);
  return early_leaves(nodes * ranks_each, 200, [&](int number) -> Meeting {
    const int node = number / ranks_each;
    const int rank = number % ranks_each;
    auto leader = rank == 0 ? std::make_unique<Leader>(post, nodes, node) : nullptr;
    const NodeMemory& memory = memories[static_cast<std::size_t>(node)];
    auto member = std::make_shared<Member>(flags_of(memory, ranks_each, rank, crowded), std::move(leader),
                                           schedules_in_turn(nodes, node));
    return [member] { member->meet(); };
  });
}

TEST(BarrierThreads, NodesMeetByAllThatATrialCompares) {
  EXPECT_EQ(early_leaves_on_nodes(2, 2), 0);
  EXPECT_EQ(early_leaves_on_nodes(3, 3), 0);
  EXPECT_EQ(early_leaves_on_nodes(8, 1), 0);
  EXPECT_EQ(early_leaves_on_nodes(2, 10), 0);
}

// Planted defects. The thread sanitizer ends a program in which it has found one.
#ifdef __SANITIZE_THREAD__
int early_leaves_without_order(int ranks) {
  std::atomic<int> entered{0};
  return early_leaves(ranks, 50, [&](int) -> Meeting {
    return [&, barrier = 0]() mutable {
      ++barrier;
      entered.fetch_add(1, std::memory_order_relaxed);
      while (entered.load(std::memory_order_relaxed) < barrier * ranks) sched_yield();
    };
  });
}

// Started anew, because a process with threads, as the sanitizer's own, is not to be forked.
void expect_race(const std::function<void()>& body) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT((body(), std::exit(0)), ::testing::ExitedWithCode(66), "data race");
}

TEST(BarrierThreadsDeathTest, TheThreadSanitizerCatchesABarrierThatOrdersNothing) {
  expect_race([] { early_leaves_without_order(4); });
}

TEST(BarrierThreadsDeathTest, TheThreadSanitizerCatchesABarrierOfOneHalf) {
  expect_race([] { early_leaves_on_one_node(4, 200, crowded, first_half); });
}
#else
TEST(BarrierThreads, TheTestCatchesABarrierOfOneHalf) {
  int early = 0;
  for (int attempt = 0; attempt < 20 && early == 0; ++attempt) {
    early = early_leaves_on_one_node(4, 200, crowded, first_half);
  }
  EXPECT_GT(early, 0);
}
#endif

}  // namespace
}  // namespace chiplog::collectives
