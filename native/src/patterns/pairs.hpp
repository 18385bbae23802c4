// k pairs at once: PRTT(n,0,s) between each client and its server.
#pragma once

#include "patterns/bench.hpp"

namespace chiplog::patterns {

// Rank 0 lets all clients go when all have said that they and their servers are ready; then each times itself.
template <Transport T, Clock C>
void start_together(Bench<T, C>& bench, const SeriesSetup& setup) {
  auto& [transport, clock, out, in] = bench;
  transport.recv(setup.partner, in, no_bytes);
  if (setup.self != client_rank) {
    transport.send(client_rank, out, no_bytes);
    transport.recv(client_rank, in, no_bytes);
  } else {
    for (Rank other = 1; other < setup.pairs; ++other) transport.recv(other, in, no_bytes);
    for (Rank other = 1; other < setup.pairs; ++other) transport.send(other, out, no_bytes);
  }
  if constexpr (requires { transport.settle_together(1); }) {
    transport.settle_together(static_cast<int>(setup.pairs));
  }
}

template <Transport T, Clock C>
Interval pairs_client(Bench<T, C>& bench, const SeriesSetup& setup) {
  auto& [transport, clock, out, in] = bench;
  start_together(bench, setup);
  const Ticks begin = clock.now();
  for (std::int64_t i = 0; i < setup.batch; ++i) {
    for (std::int64_t sent = 0; sent < setup.train; ++sent) transport.send(setup.partner, out, setup.message_bytes);
    transport.recv(setup.partner, in, setup.message_bytes);
  }
  return {begin, clock.now()};
}

template <Transport T, Clock C>
Interval pairs_server(Bench<T, C>& bench, const SeriesSetup& setup) {
  auto& [transport, clock, out, in] = bench;
  transport.send(setup.partner, out, no_bytes);
  for (std::int64_t i = 0; i < setup.batch; ++i) {
    for (std::int64_t received = 0; received < setup.train; ++received) {
      transport.recv(setup.partner, in, setup.message_bytes);
    }
    transport.send(setup.partner, out, setup.message_bytes);
  }
  return {};
}

}  // namespace chiplog::patterns
