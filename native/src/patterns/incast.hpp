// n:1: p peers send one message each to one rank at once; it ends when the last of them is there. The client asks each
// peer by an empty message, since ranks on several hosts have no clock in common to begin by.
#pragma once

#include "patterns/part.hpp"

namespace chiplog::patterns {

struct Incast {
  static WireCount message_wire_count(const SeriesSetup& setup) {
    return {3 * setup.peers, setup.peers * static_cast<std::int64_t>(setup.message_bytes)};
  }
  static bool supports(Operation operation) { return !is_passive(operation); }
  static std::int64_t posted_at_once(const SeriesSetup& setup) { return setup.peers; }

  static constexpr Pattern pattern{
      .name = "incast",
      .direction = "round-trip",
      .takes_peers = true,
      .servers_announce_themselves = true,
      .message_wire_count = message_wire_count,
      .supports = supports,
      .posted_at_once = posted_at_once,
  };
  template <MessageView M>
  static constexpr bool runs_over = !M::has_passive_targets;

  template <MessageView M, Clock C>
  static Part client(Workspace<M, C>& work, const SeriesSetup& setup) {
    return [&work, setup] {
      auto& [messages, clock, out, in] = work;
      const std::size_t bytes = setup.message_bytes;
      const auto peers = static_cast<Rank>(setup.peers);
      for (Rank peer = 1; peer <= peers; ++peer) messages.recv(peer, in, no_bytes);
      settle(work);
      const Ticks begin = clock.now();
      for (Rank peer = 1; peer <= peers; ++peer) messages.post_send(peer, out, no_bytes);
      for (Rank peer = 1; peer <= peers; ++peer) messages.recv(peer, in, bytes);
      messages.wait_sends();
      return Interval{begin, clock.now()};
    };
  }

  template <MessageView M, Clock C>
  static Part server(Workspace<M, C>& work, const SeriesSetup& setup) {
    return [&work, bytes = setup.message_bytes] {
      auto& [messages, clock, out, in] = work;
      messages.send(client_rank, out, no_bytes);
      messages.recv(client_rank, in, no_bytes);
      messages.send(client_rank, out, bytes);
      return Interval{};
    };
  }
};

}  // namespace chiplog::patterns
