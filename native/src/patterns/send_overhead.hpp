// n posted sends, to the peers in turn, timed; their completion and the acknowledgements are not: n·o_s.
#pragma once

#include "patterns/peer_list.hpp"
#include "patterns/workspace.hpp"

namespace chiplog::patterns {

template <MessageView M, Clock C>
Interval send_overhead_client(Workspace<M, C>& work, const SeriesSetup& setup) {
  auto& [messages, clock, out, in] = work;
  const std::int64_t posts = setup.batch * setup.train;
  const auto peers = static_cast<Rank>(setup.peers);
  const Ticks begin = clock.now();
  Rank peer = server_rank;
  for (std::int64_t i = 0; i < posts; ++i) {
    messages.post_send(peer, out, setup.message_bytes);
    peer = peer == peers ? server_rank : peer + 1;
  }
  const Ticks end = clock.now();
  messages.wait_sends();
  for (peer = server_rank; peer <= peers; ++peer) await_acknowledgement(work, peer);
  return {begin, end};
}

// One send to each peer, all posted by one call.
template <MessageView M, Clock C>
  requires PostsLists<M>
Interval send_overhead_list_client(Workspace<M, C>& work, const SeriesSetup& setup) {
  auto& [messages, clock, out, in] = work;
  const auto peers = static_cast<Rank>(setup.peers);
  PeerList list(messages, server_rank, peers, out, setup.message_bytes);
  const Ticks begin = clock.now();
  list.start();
  const Ticks end = clock.now();
  list.wait();
  for (Rank peer = server_rank; peer <= peers; ++peer) await_acknowledgement(work, peer);
  return {begin, end};
}

template <MessageView M, Clock C>
Interval send_overhead_server(Workspace<M, C>& work, const SeriesSetup& setup) {
  auto& [messages, clock, out, in] = work;
  const std::int64_t mine = setup.batch * setup.train / setup.peers;
  for (std::int64_t i = 0; i < mine; ++i) messages.recv(client_rank, in, setup.message_bytes);
  messages.send(client_rank, out, no_bytes);
  return {};
}

}  // namespace chiplog::patterns
