// 1:n n:1: one message to each of p peers, who answer at once; until all answers are there.
#pragma once

#include "patterns/peer_list.hpp"
#include "patterns/workspace.hpp"

namespace chiplog::patterns {

// The peers say that they are about to receive before the clock starts.
template <MessageView M, Clock C>
Interval one_to_many_client(Workspace<M, C>& work, const SeriesSetup& setup) {
  auto& [messages, clock, out, in] = work;
  const auto peers = static_cast<Rank>(setup.peers);
  for (Rank peer = 1; peer <= peers; ++peer) messages.recv(peer, in, no_bytes);
  settle(work);
  const Ticks begin = clock.now();
  for (Rank peer = 1; peer <= peers; ++peer) messages.post_send(peer, out, setup.message_bytes);
  for (Rank peer = 1; peer <= peers; ++peer) messages.recv(peer, in, setup.message_bytes);
  messages.wait_sends();
  return {begin, clock.now()};
}

// The same with all messages posted by one call; what prepares that call comes before.
template <MessageView M, Clock C>
  requires PostsLists<M>
Interval one_to_many_list_client(Workspace<M, C>& work, const SeriesSetup& setup) {
  auto& [messages, clock, out, in] = work;
  const auto peers = static_cast<Rank>(setup.peers);
  PeerList list(messages, server_rank, peers, out, setup.message_bytes);
  for (Rank peer = 1; peer <= peers; ++peer) messages.recv(peer, in, no_bytes);
  settle(work);
  const Ticks begin = clock.now();
  list.start();
  for (Rank peer = 1; peer <= peers; ++peer) messages.recv(peer, in, setup.message_bytes);
  list.wait();
  return {begin, clock.now()};
}

template <MessageView M, Clock C>
Interval one_to_many_server(Workspace<M, C>& work, const SeriesSetup& setup) {
  auto& [messages, clock, out, in] = work;
  messages.send(client_rank, out, no_bytes);
  messages.recv(client_rank, in, setup.message_bytes);
  messages.send(client_rank, out, setup.message_bytes);
  return {};
}

}  // namespace chiplog::patterns
