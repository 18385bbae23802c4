// 1:n n:1: one message to each of p peers, who answer at once; until all answers are there.
#pragma once

#include "patterns/bench.hpp"
#include "patterns/peer_list.hpp"

namespace chiplog::patterns {

// The peers say that they are about to receive before the clock starts.
template <Transport T, Clock C>
Interval one_to_many_client(Bench<T, C>& bench, const SeriesSetup& setup) {
  auto& [transport, clock, out, in] = bench;
  const auto peers = static_cast<Rank>(setup.peers);
  for (Rank peer = 1; peer <= peers; ++peer) transport.recv(peer, in, no_bytes);
  if constexpr (requires { bench.transport.settle(); }) transport.settle();
  const Ticks begin = clock.now();
  for (Rank peer = 1; peer <= peers; ++peer) transport.post_send(peer, out, setup.message_bytes);
  for (Rank peer = 1; peer <= peers; ++peer) transport.recv(peer, in, setup.message_bytes);
  transport.wait_sends();
  return {begin, clock.now()};
}

// The same with all messages posted by one call; what prepares that call comes before.
template <Transport T, Clock C>
  requires PostsLists<T>
Interval one_to_many_list_client(Bench<T, C>& bench, const SeriesSetup& setup) {
  auto& [transport, clock, out, in] = bench;
  const auto peers = static_cast<Rank>(setup.peers);
  PeerList list(transport, server_rank, peers, out, setup.message_bytes);
  for (Rank peer = 1; peer <= peers; ++peer) transport.recv(peer, in, no_bytes);
  if constexpr (requires { bench.transport.settle(); }) transport.settle();
  const Ticks begin = clock.now();
  list.start();
  for (Rank peer = 1; peer <= peers; ++peer) transport.recv(peer, in, setup.message_bytes);
  list.wait();
  return {begin, clock.now()};
}

template <Transport T, Clock C>
Interval one_to_many_server(Bench<T, C>& bench, const SeriesSetup& setup) {
  auto& [transport, clock, out, in] = bench;
  transport.send(client_rank, out, no_bytes);
  transport.recv(client_rank, in, setup.message_bytes);
  transport.send(client_rank, out, setup.message_bytes);
  return {};
}

}  // namespace chiplog::patterns
