// n posted sends, to the peers in turn, timed; their completion and the acknowledgements are not: n·o_s.
#pragma once

#include "patterns/bench.hpp"
#include "patterns/peer_list.hpp"

namespace chiplog::patterns {

template <Transport T, Clock C>
Interval send_overhead_client(Bench<T, C>& bench, const SeriesSetup& setup) {
  auto& [transport, clock, out, in] = bench;
  const std::int64_t posts = setup.batch * setup.train;
  const auto peers = static_cast<Rank>(setup.peers);
  const Ticks begin = clock.now();
  Rank peer = server_rank;
  for (std::int64_t i = 0; i < posts; ++i) {
    transport.post_send(peer, out, setup.message_bytes);
    peer = peer == peers ? server_rank : peer + 1;
  }
  const Ticks end = clock.now();
  transport.wait_sends();
  for (peer = server_rank; peer <= peers; ++peer) await_acknowledgement(bench, peer);
  return {begin, end};
}

// One send to each peer, all posted by one call.
template <Transport T, Clock C>
  requires PostsLists<T>
Interval send_overhead_list_client(Bench<T, C>& bench, const SeriesSetup& setup) {
  auto& [transport, clock, out, in] = bench;
  const auto peers = static_cast<Rank>(setup.peers);
  PeerList list(transport, server_rank, peers, out, setup.message_bytes);
  const Ticks begin = clock.now();
  list.start();
  const Ticks end = clock.now();
  list.wait();
  for (Rank peer = server_rank; peer <= peers; ++peer) await_acknowledgement(bench, peer);
  return {begin, end};
}

template <Transport T, Clock C>
Interval send_overhead_server(Bench<T, C>& bench, const SeriesSetup& setup) {
  auto& [transport, clock, out, in] = bench;
  const std::int64_t mine = setup.batch * setup.train / setup.peers;
  for (std::int64_t i = 0; i < mine; ++i) transport.recv(client_rank, in, setup.message_bytes);
  transport.send(client_rank, out, no_bytes);
  return {};
}

}  // namespace chiplog::patterns
