// The n-way dissemination barrier of all ranks, message by message: the rounds that libchiplog_coll runs over MPI.
#pragma once

#include <vector>

#include "core/dissemination.hpp"
#include "patterns/bench.hpp"

namespace chiplog::patterns {

using DisseminationRounds = std::vector<std::vector<int>>;

// All sends are waited for at the end: none goes to a peer that another one goes to.
template <Transport T, Clock C>
void pass_barrier(Bench<T, C>& bench, const SeriesSetup& setup, const DisseminationRounds& rounds) {
  auto& [transport, clock, out, in] = bench;
  for (const std::vector<int>& steps : rounds) {
    for (const int step : steps) {
      transport.post_send((setup.self + step) % setup.ranks, out, setup.message_bytes);
    }
    for (const int step : steps) {
      transport.recv((setup.self - step + setup.ranks) % setup.ranks, in, setup.message_bytes);
    }
  }
  transport.wait_sends();
}

// The same on every rank. The first barrier only brings them together.
template <Transport T, Clock C>
Interval barrier(Bench<T, C>& bench, const SeriesSetup& setup) {
  auto& [transport, clock, out, in] = bench;
  const DisseminationRounds rounds = dissemination_steps(setup.ranks, static_cast<int>(setup.peers));
  pass_barrier(bench, setup, rounds);
  if constexpr (requires { bench.transport.settle_together(1); }) transport.settle_together(setup.ranks);
  const Ticks begin = clock.now();
  for (std::int64_t i = 0; i < setup.batch; ++i) pass_barrier(bench, setup, rounds);
  return {begin, clock.now()};
}

}  // namespace chiplog::patterns
