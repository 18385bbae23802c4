// k pairs at once: PRTT(n,0,s) between each client and its server, or windows of messages one way.
#pragma once

#include "core/pair_groups.hpp"
#include "patterns/part.hpp"
#include "patterns/start_together.hpp"
#include "patterns/trains.hpp"

namespace chiplog::patterns {

namespace detail {

// The first ranks of the two groups are the clients and the servers, one of each per pair.
inline Position place_in_groups(const SeriesSetup& setup, Rank rank) {
  const Role role = setup.groups->role(rank, setup.pairs);
  if (role == Role::onlooker) return {};
  return {role, setup.groups->partner(rank)};
}

inline std::vector<Link> links_of_groups(const SeriesSetup& setup) {
  std::vector<Link> links;
  for (std::size_t pair = 0; pair < static_cast<std::size_t>(setup.pairs); ++pair) {
    links.push_back({setup.groups->clients[pair], setup.groups->servers[pair]});
  }
  return links;
}

inline std::span<const Rank> clients_of(const SeriesSetup& setup) {
  return {setup.groups->clients.data(), static_cast<std::size_t>(setup.pairs)};
}

inline WireCount pairs_passive_wire_count(const SeriesSetup& setup) {
  const std::int64_t posted = setup.batch * setup.train;
  return {setup.pairs * (2 * posted + 4) - 2, setup.pairs * posted * static_cast<std::int64_t>(setup.message_bytes)};
}

}  // namespace detail

// As osu_mbw_mr does it: a window of messages, posted at once where the transport can, and an empty answer to them all.
struct PairsOneWay {
  static WireCount message_wire_count(const SeriesSetup& setup) {
    const std::int64_t sent = setup.batch * setup.train;
    return {setup.pairs * (sent + 1) + messages_to_start_together(setup.pairs),
            setup.pairs * sent * static_cast<std::int64_t>(setup.message_bytes)};
  }
  static std::int64_t posted_at_once(const SeriesSetup& setup) { return setup.batch; }

  static constexpr Pattern pattern{
      .name = "pairs",
      .direction = "one-way",
      .takes_pair_groups = true,
      .servers_announce_themselves = true,
      .several_clients = true,
      .message_wire_count = message_wire_count,
      .passive_wire_count = detail::pairs_passive_wire_count,
      .posted_at_once = posted_at_once,
      .position = detail::place_in_groups,
      .links = detail::links_of_groups,
  };

  template <MessageView M, Clock C>
  static Part client(Workspace<M, C>& work, const SeriesSetup& setup) {
    return [&work, setup] {
      auto& [messages, clock, out, in] = work;
      const std::size_t bytes = setup.message_bytes;
      const std::int64_t window = setup.batch;
      start_together(work, setup, detail::clients_of(setup));
      const Ticks begin = clock.now();
      for (std::int64_t i = 0; i < window; ++i) messages.post_send(setup.partner, out, bytes);
      messages.wait_sends();
      await_acknowledgement(work, setup.partner);
      return Interval{begin, clock.now()};
    };
  }

  template <MessageView M, Clock C>
  static Part server(Workspace<M, C>& work, const SeriesSetup& setup) {
    return [&work, setup] {
      auto& [messages, clock, out, in] = work;
      const std::size_t bytes = setup.message_bytes;
      const std::int64_t window = setup.batch;
      messages.send(setup.partner, out, no_bytes);
      for (std::int64_t i = 0; i < window; ++i) messages.recv(setup.partner, in, bytes);
      messages.send(setup.partner, out, no_bytes);
      return Interval{};
    };
  }
};

struct Pairs {
  static WireCount message_wire_count(const SeriesSetup& setup) {
    const std::int64_t messages = setup.pairs * setup.batch * (setup.train + 1);
    return {messages + messages_to_start_together(setup.pairs),
            messages * static_cast<std::int64_t>(setup.message_bytes)};
  }

  static constexpr Pattern pattern{
      .name = "pairs",
      .direction = "round-trip",
      .batches = Batches::exchanges,
      .takes_trains = true,
      .takes_pair_groups = true,
      .servers_announce_themselves = true,
      .several_clients = true,
      .one_way = &PairsOneWay::pattern,
      .message_wire_count = message_wire_count,
      .passive_wire_count = detail::pairs_passive_wire_count,
      .position = detail::place_in_groups,
      .links = detail::links_of_groups,
  };

  template <MessageView M, Clock C>
  static Part client(Workspace<M, C>& work, const SeriesSetup& setup) {
    return [&work, setup] {
      start_together(work, setup, detail::clients_of(setup));
      return time_trains(work, setup, setup.partner);
    };
  }

  template <MessageView M, Clock C>
  static Part server(Workspace<M, C>& work, const SeriesSetup& setup) {
    return [&work, setup] {
      work.messages.send(setup.partner, work.out, no_bytes);
      answer_trains(work, setup, setup.partner, setup.message_bytes);
      return Interval{};
    };
  }
};

}  // namespace chiplog::patterns
