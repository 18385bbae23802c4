// The schedule of the n-way dissemination barrier.
// Source: Hoefler, Mehlan, Mietke, Rehm, "Fast barrier synchronization for InfiniBand", IPDPS 2006 (CAC).
#pragma once

#include <cstdint>
#include <vector>

namespace chiplog {

// By round k = 0, 1, ...: the steps i (n+1)^k < P, i = 1..n. In its round rank r tells (r + step) mod P and waits for
// (r - step) mod P, for each of the steps. No two steps of any rounds are equal: a barrier has at most one message
// from one rank to another. `ranks` >= 1, `peers` >= 1.
[[nodiscard]] inline std::vector<std::vector<int>> dissemination_steps(int ranks, int peers) {
  std::vector<std::vector<int>> rounds;
  for (long distance = 1; distance < ranks; distance *= peers + 1L) {
    std::vector<int>& steps = rounds.emplace_back();
    for (long step = distance; step < ranks && step <= peers * distance; step += distance) {
      steps.push_back(static_cast<int>(step));
    }
  }
  return rounds;
}

// Messages that each rank sends in one barrier.
[[nodiscard]] inline std::int64_t dissemination_messages(int ranks, int peers) {
  std::int64_t messages = 0;
  for (const std::vector<int>& steps : dissemination_steps(ranks, peers)) {
    messages += static_cast<std::int64_t>(steps.size());
  }
  return messages;
}

}  // namespace chiplog
