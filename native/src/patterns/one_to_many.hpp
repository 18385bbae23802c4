// 1:n n:1: one message to each of p peers, each of which answers at once; it ends when all answers have arrived.
#pragma once

#include "patterns/part.hpp"
#include "patterns/peer_list.hpp"

namespace chiplog::patterns {

namespace detail {

inline WireCount one_to_many_wire_count(const SeriesSetup& setup) {
  return {3 * setup.peers, 2 * setup.peers * static_cast<std::int64_t>(setup.message_bytes)};
}
inline WireCount one_to_many_passive_wire_count(const SeriesSetup& setup) {
  return {4 * setup.peers, setup.peers * static_cast<std::int64_t>(setup.message_bytes)};
}
inline std::int64_t one_to_each_peer(const SeriesSetup& setup) { return setup.peers; }

template <MessageView M, Clock C>
Part answer(Workspace<M, C>& work, const SeriesSetup& setup) {
  return [&work, bytes = setup.message_bytes] {
    auto& [messages, clock, out, in] = work;
    messages.send(client_rank, out, no_bytes);
    messages.recv(client_rank, in, bytes);
    messages.send(client_rank, out, bytes);
    return Interval{};
  };
}

}  // namespace detail

// All messages are posted by one call, which is prepared before the clock starts.
struct OneToManyList {
  static constexpr Pattern pattern{
      .name = "one_to_many",
      .direction = "round-trip",
      .takes_peers = true,
      .servers_announce_themselves = true,
      .message_wire_count = detail::one_to_many_wire_count,
      .passive_wire_count = detail::one_to_many_passive_wire_count,
      .posted_at_once = detail::one_to_each_peer,
  };
  template <MessageView M>
  static constexpr bool runs_over = PostsLists<M>;

  template <MessageView M, Clock C>
  static Part client(Workspace<M, C>& work, const SeriesSetup& setup) {
    return [&work, setup] {
      auto& [messages, clock, out, in] = work;
      const std::size_t bytes = setup.message_bytes;
      const auto peers = static_cast<Rank>(setup.peers);
      PeerList list(messages, server_rank, peers, out, bytes);
      for (Rank peer = 1; peer <= peers; ++peer) messages.recv(peer, in, no_bytes);
      settle(work);
      const Ticks begin = clock.now();
      list.start();
      for (Rank peer = 1; peer <= peers; ++peer) messages.recv(peer, in, bytes);
      list.wait();
      return Interval{begin, clock.now()};
    };
  }

  template <MessageView M, Clock C>
  static Part server(Workspace<M, C>& work, const SeriesSetup& setup) {
    return detail::answer(work, setup);
  }
};

struct OneToMany {
  static constexpr Pattern pattern{
      .name = "one_to_many",
      .direction = "round-trip",
      .takes_peers = true,
      .servers_announce_themselves = true,
      .as_list = &OneToManyList::pattern,
      .message_wire_count = detail::one_to_many_wire_count,
      .passive_wire_count = detail::one_to_many_passive_wire_count,
      .posted_at_once = detail::one_to_each_peer,
  };

  // The peers say that they are about to receive before the clock starts.
  template <MessageView M, Clock C>
  static Part client(Workspace<M, C>& work, const SeriesSetup& setup) {
    return [&work, setup] {
      auto& [messages, clock, out, in] = work;
      const std::size_t bytes = setup.message_bytes;
      const auto peers = static_cast<Rank>(setup.peers);
      for (Rank peer = 1; peer <= peers; ++peer) messages.recv(peer, in, no_bytes);
      settle(work);
      const Ticks begin = clock.now();
      for (Rank peer = 1; peer <= peers; ++peer) messages.post_send(peer, out, bytes);
      for (Rank peer = 1; peer <= peers; ++peer) messages.recv(peer, in, bytes);
      messages.wait_sends();
      return Interval{begin, clock.now()};
    };
  }

  template <MessageView M, Clock C>
  static Part server(Workspace<M, C>& work, const SeriesSetup& setup) {
    return detail::answer(work, setup);
  }
};

}  // namespace chiplog::patterns
