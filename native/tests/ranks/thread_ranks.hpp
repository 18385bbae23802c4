// Threads that stand for ranks, so that the thread sanitizer sees both sides of what they share.
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <thread>
#include <vector>

namespace chiplog::testing {

using Meeting = std::function<void()>;

// How often a rank left one of `barriers` barriers before another one had entered it. `meeting_of` is called on each
// rank's thread. What a rank writes before a barrier is read after it without a lock or an atomic, and written again
// before the next barrier but one: a barrier that orders nothing is a race to the thread sanitizer.
inline int early_leaves(int ranks, int barriers, const std::function<Meeting(int rank)>& meeting_of) {
  std::vector<int> entered[2];
  for (std::vector<int>& of_all : entered) of_all.resize(static_cast<std::size_t>(ranks), 0);
  std::atomic<int> early{0};
  const auto run = [&](int rank) {
    const Meeting meet = meeting_of(rank);
    for (int barrier = 1; barrier <= barriers; ++barrier) {
      std::vector<int>& of_all = entered[barrier % 2];
      of_all[static_cast<std::size_t>(rank)] = barrier;
      meet();
      for (const int other : of_all) early += other != barrier ? 1 : 0;
    }
  };
  std::vector<std::jthread> threads;
  for (int rank = 0; rank < ranks; ++rank) threads.emplace_back(run, rank);
  threads.clear();
  return early;
}

}  // namespace chiplog::testing
