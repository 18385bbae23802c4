// The n-way dissemination barrier of all ranks, message by message: the rounds that libchiplog_coll runs over MPI.
#pragma once

#include <vector>

#include "core/dissemination.hpp"
#include "patterns/workspace.hpp"

namespace chiplog::patterns {

using DisseminationRounds = std::vector<std::vector<int>>;

// All sends are waited for at the end: none goes to a peer that another one goes to.
template <MessageView M, Clock C>
void pass_barrier(Workspace<M, C>& work, const SeriesSetup& setup, const DisseminationRounds& rounds) {
  auto& [messages, clock, out, in] = work;
  for (const std::vector<int>& steps : rounds) {
    for (const int step : steps) {
      messages.post_send((setup.self + step) % setup.ranks, out, setup.message_bytes);
    }
    for (const int step : steps) {
      messages.recv((setup.self - step + setup.ranks) % setup.ranks, in, setup.message_bytes);
    }
  }
  messages.wait_sends();
}

// The same on every rank. The first barrier only brings them together.
template <MessageView M, Clock C>
Interval barrier(Workspace<M, C>& work, const SeriesSetup& setup) {
  auto& [messages, clock, out, in] = work;
  const DisseminationRounds rounds = dissemination_steps(setup.ranks, static_cast<int>(setup.peers));
  pass_barrier(work, setup, rounds);
  settle_together(work, setup.ranks);
  const Ticks begin = clock.now();
  for (std::int64_t i = 0; i < setup.batch; ++i) pass_barrier(work, setup, rounds);
  return {begin, clock.now()};
}

}  // namespace chiplog::patterns
