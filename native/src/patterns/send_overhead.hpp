// n posted sends, timed; their completion and the server's acknowledgement are not: n·o_s.
#pragma once

#include "patterns/bench.hpp"

namespace chiplog::patterns {

template <Transport T, Clock C>
Interval send_overhead_client(Bench<T, C>& bench, const SeriesSetup& setup) {
  auto& [transport, clock, out, in] = bench;
  const std::int64_t posts = setup.batch * setup.train;
  const Ticks begin = clock.now();
  for (std::int64_t i = 0; i < posts; ++i) transport.post_send(server_rank, out, setup.message_bytes);
  const Ticks end = clock.now();
  transport.wait_sends();
  transport.recv(server_rank, in, no_bytes);
  return {begin, end};
}

template <Transport T, Clock C>
Interval send_overhead_server(Bench<T, C>& bench, const SeriesSetup& setup) {
  auto& [transport, clock, out, in] = bench;
  const std::int64_t posts = setup.batch * setup.train;
  for (std::int64_t i = 0; i < posts; ++i) transport.recv(client_rank, in, setup.message_bytes);
  transport.send(client_rank, out, no_bytes);
  return {};
}

}  // namespace chiplog::patterns
