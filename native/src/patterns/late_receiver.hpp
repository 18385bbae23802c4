// One send to a receiver that computes for d before it receives: about o_s if the transport is eager at this size,
// at least d if the send waits for its receive. The sharpest mark of an eager limit (LogGPS's S).
#pragma once

#include "patterns/bench.hpp"

namespace chiplog::patterns {

template <Transport T, Clock C>
Interval late_receiver_client(Bench<T, C>& bench, const SeriesSetup& setup) {
  auto& [transport, clock, out, in] = bench;
  transport.send(server_rank, out, no_bytes);
  const Ticks begin = clock.now();
  transport.send(server_rank, out, setup.message_bytes);
  const Ticks end = clock.now();
  transport.recv(server_rank, in, no_bytes);
  return {begin, end};
}

// Its delay begins when the empty message tells that the client is at its send.
template <Transport T, Clock C>
Interval late_receiver_server(Bench<T, C>& bench, const SeriesSetup& setup) {
  auto& [transport, clock, out, in] = bench;
  transport.recv(client_rank, in, no_bytes);
  const Ticks waited = clock.busy_wait(setup.delay_ns);
  transport.recv(client_rank, in, setup.message_bytes);
  transport.send(client_rank, out, no_bytes);
  return {.waited = waited};
}

}  // namespace chiplog::patterns
