// n posted sends, to the peers in turn, timed; their completion and the acknowledgements are not: n·o_s.
#pragma once

#include <algorithm>

#include "patterns/part.hpp"
#include "patterns/peer_list.hpp"

namespace chiplog::patterns {

namespace detail {

inline WireCount posted_wire_count(const SeriesSetup& setup) {
  const std::int64_t sent = setup.batch * setup.train;
  return {sent + setup.peers, sent * static_cast<std::int64_t>(setup.message_bytes)};
}

template <MessageView M, Clock C>
Part receive_posted(Workspace<M, C>& work, const SeriesSetup& setup) {
  const std::int64_t own_messages = setup.batch * setup.train / setup.peers;
  return [&work, bytes = setup.message_bytes, own_messages] {
    auto& [messages, clock, out, in] = work;
    for (std::int64_t i = 0; i < own_messages; ++i) messages.recv(client_rank, in, bytes);
    messages.send(client_rank, out, no_bytes);
    return Interval{};
  };
}

}  // namespace detail

// One send to each peer, all posted by one call.
struct SendOverheadList {
  static std::int64_t posted_at_once(const SeriesSetup& setup) { return std::max(setup.train, setup.peers); }

  static constexpr Pattern pattern{
      .name = "send_overhead",
      .direction = "call",
      .takes_trains = true,
      .takes_peers = true,
      .train_is_peers = true,
      .message_wire_count = detail::posted_wire_count,
      .posted_at_once = posted_at_once,
  };
  template <MessageView M>
  static constexpr bool runs_over = PostsLists<M>;

  template <MessageView M, Clock C>
  static Part client(Workspace<M, C>& work, const SeriesSetup& setup) {
    return [&work, setup] {
      auto& [messages, clock, out, in] = work;
      const auto peers = static_cast<Rank>(setup.peers);
      PeerList list(messages, server_rank, peers, out, setup.message_bytes);
      const Ticks begin = clock.now();
      list.start();
      const Ticks end = clock.now();
      list.wait();
      for (Rank peer = server_rank; peer <= peers; ++peer) await_acknowledgement(work, peer);
      return Interval{begin, end};
    };
  }

  template <MessageView M, Clock C>
  static Part server(Workspace<M, C>& work, const SeriesSetup& setup) {
    return detail::receive_posted(work, setup);
  }
};

struct SendOverhead {
  static constexpr Pattern pattern{
      .name = "send_overhead",
      .direction = "call",
      .batches = Batches::posts,
      .takes_trains = true,
      .takes_peers = true,
      .as_list = &SendOverheadList::pattern,
      .message_wire_count = detail::posted_wire_count,
      .posted_at_once = SendOverheadList::posted_at_once,
  };

  template <MessageView M, Clock C>
  static Part client(Workspace<M, C>& work, const SeriesSetup& setup) {
    return [&work, setup] {
      auto& [messages, clock, out, in] = work;
      const std::size_t bytes = setup.message_bytes;
      const std::int64_t posts = setup.batch * setup.train;
      const auto peers = static_cast<Rank>(setup.peers);
      const Ticks begin = clock.now();
      Rank peer = server_rank;
      for (std::int64_t i = 0; i < posts; ++i) {
        messages.post_send(peer, out, bytes);
        peer = peer == peers ? server_rank : peer + 1;
      }
      const Ticks end = clock.now();
      messages.wait_sends();
      for (peer = server_rank; peer <= peers; ++peer) await_acknowledgement(work, peer);
      return Interval{begin, end};
    };
  }

  template <MessageView M, Clock C>
  static Part server(Workspace<M, C>& work, const SeriesSetup& setup) {
    return detail::receive_posted(work, setup);
  }
};

}  // namespace chiplog::patterns
