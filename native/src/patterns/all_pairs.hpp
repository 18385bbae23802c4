// Every two ranks once, in rounds of disjoint pairs: round trips, or windows of messages one way.
//
// Rounds follow the circle method: all ranks but one stand on a circle, on which each rank is paired with its mirror
// image; the rank that is its own mirror image is paired with the one in the middle, or is idle where their number is
// odd. From round to round the mirror turns. P ranks take P - 1 rounds if P is even and P if P is odd. A request may
// list the pairs of a round instead. Source: Lucas, "Recreations mathematiques", volume 2 (1883); de Werra, "Scheduling
// in sports" (1981).
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "patterns/part.hpp"
#include "patterns/start_together.hpp"

namespace chiplog::patterns {

namespace detail {

enum AllPairsSetting : std::size_t { which_round, at_once, turned };
inline constexpr std::array<Setting, 3> all_pairs_settings{
    {{"round", 0, 1'000'000, 0}, {"at_once", 0, 1, 1}, {"turned", 0, 1, 0}}};

[[nodiscard]] inline int rounds_among(int ranks) { return ranks % 2 == 0 ? ranks - 1 : ranks; }

// The partner of a rank in a round; `ranks`, which is no rank, if it is idle.
[[nodiscard]] inline Rank partner_in_round(Rank rank, std::int64_t round, int ranks) {
  const int circle = rounds_among(ranks);
  const auto turn = static_cast<int>(round % circle);
  if (rank == circle) return turn;
  const int image = ((2 * turn - rank) % circle + circle) % circle;
  return image == rank ? circle : image;
}

inline Position place_in_round(const SeriesSetup& setup, Rank rank) {
  const bool turns = setup.settings[turned] != 0;
  if (setup.links != nullptr) {
    for (const Link& link : *setup.links) {
      if (rank == link.client) return {turns ? Role::server : Role::client, link.server};
      if (rank == link.server) return {turns ? Role::client : Role::server, link.client};
    }
    return {};
  }
  const Rank partner = partner_in_round(rank, setup.settings[which_round], setup.ranks);
  if (partner >= setup.ranks) return {};
  return {(rank < partner) != turns ? Role::client : Role::server, partner};
}

inline std::vector<Link> links_of_round(const SeriesSetup& setup) {
  std::vector<Link> links;
  if (setup.links != nullptr) {
    links = *setup.links;
    if (setup.settings[turned] != 0) {
      for (Link& link : links) std::swap(link.client, link.server);
    }
    return links;
  }
  for (Rank rank = 0; rank < setup.ranks; ++rank) {
    const Position position = place_in_round(setup, rank);
    if (position.role == Role::client) links.push_back({rank, position.partner});
  }
  return links;
}

inline std::int64_t pairs_of_round(const SeriesSetup& setup) {
  return setup.links != nullptr ? static_cast<std::int64_t>(setup.links->size()) : setup.ranks / 2;
}

// Each pair begins with the server's word that it is there. Pairs at once begin together then; otherwise a server says
// it when the client of the pair before tells it that it is its turn, and the first one ends when the last client does.
inline std::int64_t messages_to_start(const SeriesSetup& setup) {
  const std::int64_t pairs = pairs_of_round(setup);
  if (setup.settings[at_once] != 0) return messages_to_start_together(pairs);
  return pairs + (pairs > 1 ? pairs : 0);
}

inline WireCount all_pairs_passive_wire_count(const SeriesSetup& setup) {
  const std::int64_t pairs = pairs_of_round(setup);
  return {pairs * (2 * setup.batch + 1) + messages_to_start(setup),
          pairs * setup.batch * static_cast<std::int64_t>(setup.message_bytes)};
}

inline std::optional<SettingRefusal> refuse_round(const SeriesSetup& setup) {
  if (setup.links != nullptr) {
    for (const Link& link : *setup.links) {
      const Rank higher = std::max(link.client, link.server);
      if (higher >= setup.ranks) {
        return SettingRefusal{
            "links", "accepts ranks 0 to " + std::to_string(setup.ranks - 1) + ", not " + std::to_string(higher)};
      }
    }
    return std::nullopt;
  }
  const int rounds = rounds_among(setup.ranks);
  const std::int64_t round = setup.settings[which_round];
  if (round < rounds) return std::nullopt;
  return SettingRefusal{"round", "accepts 0 to " + std::to_string(rounds - 1) + " with " + std::to_string(setup.ranks) +
                                     " ranks, not " + std::to_string(round)};
}

// How the pairs of a round take turns, as one rank sees it: whose turn comes before its own, and whose after it.
struct Turns {
  std::optional<Rank> client_before;     // of the pair before, which says that it is the server's turn
  std::optional<Rank> server_after;      // of the pair after, the first one after the last
  std::optional<Rank> client_that_ends;  // of the last pair: in the first one, the server stays until then
};

// None where pairs are at once, or where there is only one.
inline Turns turns_in_round(const SeriesSetup& setup) {
  const std::vector<Link> links = links_of_round(setup);
  if (setup.settings[at_once] != 0 || links.size() < 2) return {};
  const auto own = std::find_if(links.begin(), links.end(), [&setup](const Link& link) {
    return setup.self == link.client || setup.self == link.server;
  });
  const bool is_first = own == links.begin();
  const auto after = own + 1 == links.end() ? links.begin() : own + 1;
  return {is_first ? std::nullopt : std::optional((own - 1)->client), after->server,
          is_first ? std::optional(links.back().client) : std::nullopt};
}

// `exchange()` is timed by each client, at the same time as the others or after those before it.
template <MessageView M, Clock C, class Exchange>
Part in_round(Workspace<M, C>& work, const SeriesSetup& setup, Exchange exchange) {
  if (setup.settings[at_once] != 0) {
    std::vector<Rank> clients;
    for (const Link& link : links_of_round(setup)) clients.push_back(link.client);
    return [&work, setup, clients = std::move(clients), exchange] {
      start_together(work, setup, clients);
      const Ticks begin = work.clock.now();
      exchange();
      return Interval{begin, work.clock.now()};
    };
  }
  return [&work, partner = setup.partner, after = turns_in_round(setup).server_after, exchange] {
    auto& [messages, clock, out, in] = work;
    messages.recv(partner, in, no_bytes);
    settle_together(work, 1);
    const Ticks begin = clock.now();
    exchange();
    const Ticks end = clock.now();
    if (after) messages.send(*after, out, no_bytes);
    return Interval{begin, end};
  };
}

// Nothing of a pair is under way in another's turn: its server says that it is there when its turn has come, not as
// soon as it could. So no sample disturbs one on a core that they share, nor does a pair's next sample while others
// have theirs.
template <MessageView M, Clock C, class Answer>
Part in_turn(Workspace<M, C>& work, const SeriesSetup& setup, Answer answer) {
  return [&work, client = setup.partner, turns = turns_in_round(setup), answer] {
    auto& [messages, clock, out, in] = work;
    if (turns.client_before) messages.recv(*turns.client_before, in, no_bytes);
    messages.send(client, out, no_bytes);
    answer();
    if (turns.client_that_ends) messages.recv(*turns.client_that_ends, in, no_bytes);
    return Interval{};
  };
}

// The server of an operation that leaves it out: there until its client is done.
template <MessageView M, Clock C>
Part passive_in_turn(Workspace<M, C>& work, const SeriesSetup& setup) {
  return in_turn(work, setup, [&work, client = setup.partner] { work.messages.recv(client, work.in, no_bytes); });
}

}  // namespace detail

// Measures a window of messages, posted at once where the transport can, and an empty answer to them all.
struct AllPairsOneWay {
  static WireCount message_wire_count(const SeriesSetup& setup) {
    const std::int64_t pairs = detail::pairs_of_round(setup);
    return {pairs * (setup.batch + 1) + detail::messages_to_start(setup),
            pairs * setup.batch * static_cast<std::int64_t>(setup.message_bytes)};
  }
  static std::int64_t posted_at_once(const SeriesSetup& setup) { return setup.batch; }

  static constexpr Pattern pattern{
      .name = "all_pairs",
      .direction = "one-way",
      .takes_links = true,
      .servers_announce_themselves = true,
      .several_clients = true,
      .records_each_pair = true,
      .settings = detail::all_pairs_settings,
      .message_wire_count = message_wire_count,
      .passive_wire_count = detail::all_pairs_passive_wire_count,
      .posted_at_once = posted_at_once,
      .position = detail::place_in_round,
      .links = detail::links_of_round,
      .refuse = detail::refuse_round,
  };

  template <MessageView M, Clock C>
  static Part client(Workspace<M, C>& work, const SeriesSetup& setup) {
    const auto window = [&work, peer = setup.partner, bytes = setup.message_bytes, count = setup.batch] {
      for (std::int64_t i = 0; i < count; ++i) work.messages.post_send(peer, work.out, bytes);
      work.messages.wait_sends();
      await_acknowledgement(work, peer);
    };
    return detail::in_round(work, setup, window);
  }

  template <MessageView M, Clock C>
  static Part server(Workspace<M, C>& work, const SeriesSetup& setup) {
    return detail::in_turn(work, setup,
                           [&work, peer = setup.partner, bytes = setup.message_bytes, count = setup.batch] {
                             for (std::int64_t i = 0; i < count; ++i) work.messages.recv(peer, work.in, bytes);
                             work.messages.send(peer, work.out, no_bytes);
                           });
  }

  template <MessageView M, Clock C>
  static Part passive_server(Workspace<M, C>& work, const SeriesSetup& setup) {
    return detail::passive_in_turn(work, setup);
  }
};

// Measures round trips.
struct AllPairs {
  static WireCount message_wire_count(const SeriesSetup& setup) {
    const std::int64_t messages = 2 * detail::pairs_of_round(setup) * setup.batch;
    return {messages + detail::messages_to_start(setup), messages * static_cast<std::int64_t>(setup.message_bytes)};
  }

  static constexpr Pattern pattern{
      .name = "all_pairs",
      .direction = "round-trip",
      .batches = Batches::exchanges,
      .takes_links = true,
      .servers_announce_themselves = true,
      .several_clients = true,
      .records_each_pair = true,
      .settings = detail::all_pairs_settings,
      .one_way = &AllPairsOneWay::pattern,
      .message_wire_count = message_wire_count,
      .passive_wire_count = detail::all_pairs_passive_wire_count,
      .position = detail::place_in_round,
      .links = detail::links_of_round,
      .refuse = detail::refuse_round,
  };

  template <MessageView M, Clock C>
  static Part client(Workspace<M, C>& work, const SeriesSetup& setup) {
    const auto round_trips = [&work, peer = setup.partner, bytes = setup.message_bytes, count = setup.batch] {
      for (std::int64_t i = 0; i < count; ++i) {
        work.messages.send(peer, work.out, bytes);
        work.messages.recv(peer, work.in, bytes);
      }
    };
    return detail::in_round(work, setup, round_trips);
  }

  template <MessageView M, Clock C>
  static Part server(Workspace<M, C>& work, const SeriesSetup& setup) {
    return detail::in_turn(work, setup,
                           [&work, peer = setup.partner, bytes = setup.message_bytes, count = setup.batch] {
                             for (std::int64_t i = 0; i < count; ++i) {
                               work.messages.recv(peer, work.in, bytes);
                               work.messages.send(peer, work.out, bytes);
                             }
                           });
  }

  template <MessageView M, Clock C>
  static Part passive_server(Workspace<M, C>& work, const SeriesSetup& setup) {
    return detail::passive_in_turn(work, setup);
  }
};

}  // namespace chiplog::patterns
