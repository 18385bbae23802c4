// There and back again: RTT, or with a delay d > RTT between send and receive d + o_s + o_r (Culler).
#pragma once

#include "patterns/bench.hpp"

namespace chiplog::patterns {

template <Transport T, Clock C>
Interval ping_pong_client(Bench<T, C>& bench, const SeriesSetup& setup) {
  auto& [transport, clock, out, in] = bench;
  const bool delayed = setup.delay_ns > 0.0;
  Ticks waited = 0;
  const Ticks begin = clock.now();
  for (std::int64_t i = 0; i < setup.batch; ++i) {
    transport.send(server_rank, out, setup.message_bytes);
    if (delayed) waited += clock.busy_wait(setup.delay_ns);
    transport.recv(server_rank, in, setup.message_bytes);
  }
  return {begin, clock.now(), waited};
}

template <Transport T, Clock C>
Interval ping_pong_server(Bench<T, C>& bench, const SeriesSetup& setup) {
  auto& [transport, clock, out, in] = bench;
  for (std::int64_t i = 0; i < setup.batch; ++i) {
    transport.recv(client_rank, in, setup.message_bytes);
    transport.send(client_rank, out, setup.message_bytes);
  }
  return {};
}

}  // namespace chiplog::patterns
