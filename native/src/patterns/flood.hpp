// n messages back to back, then an empty acknowledgement after all of them: total/n approaches the gap.
#pragma once

#include "patterns/bench.hpp"

namespace chiplog::patterns {

template <Transport T, Clock C>
Interval flood_client(Bench<T, C>& bench, const SeriesSetup& setup) {
  auto& [transport, clock, out, in] = bench;
  const Ticks begin = clock.now();
  for (std::int64_t i = 0; i < setup.batch; ++i) {
    for (std::int64_t sent = 0; sent < setup.train; ++sent) transport.send(server_rank, out, setup.message_bytes);
    await_acknowledgement(bench, server_rank);
  }
  return {begin, clock.now()};
}

template <Transport T, Clock C>
Interval flood_server(Bench<T, C>& bench, const SeriesSetup& setup) {
  auto& [transport, clock, out, in] = bench;
  for (std::int64_t i = 0; i < setup.batch; ++i) {
    for (std::int64_t received = 0; received < setup.train; ++received) {
      transport.recv(client_rank, in, setup.message_bytes);
    }
    transport.send(client_rank, out, no_bytes);
  }
  return {};
}

}  // namespace chiplog::patterns
