// The n-way dissemination barrier of all ranks, message by message: the rounds that libchiplog_coll runs over MPI.
#pragma once

#include <utility>
#include <vector>

#include "core/dissemination.hpp"
#include "patterns/part.hpp"

namespace chiplog::patterns {

struct Barrier {
  static std::int64_t messages_of_a_rank(const SeriesSetup& setup) {
    return dissemination_messages(setup.ranks, static_cast<int>(setup.peers));
  }
  static WireCount message_wire_count(const SeriesSetup& setup) {
    const std::int64_t messages = (setup.batch + 1) * setup.ranks * messages_of_a_rank(setup);
    return {messages, messages * static_cast<std::int64_t>(setup.message_bytes)};
  }
  static bool supports(Operation operation) { return !is_passive(operation); }
  // All ranks do the same, and rank 0 times it.
  static Position position(const SeriesSetup& /*setup*/, Rank rank) {
    return {rank == client_rank ? Role::client : Role::server, 0};
  }

  static constexpr Pattern pattern{
      .name = "barrier",
      .direction = "call",
      .batches = Batches::exchanges,
      .takes_peers = true,
      .message_wire_count = message_wire_count,
      .supports = supports,
      .posted_at_once = messages_of_a_rank,
      .position = position,
  };
  template <MessageView M>
  static constexpr bool runs_over = !M::has_passive_targets;

  // The ranks to which this one sends in a round, and those for which it then waits.
  struct Round {
    std::vector<Rank> told;
    std::vector<Rank> awaited;
  };
  static std::vector<Round> rounds_of(const SeriesSetup& setup) {
    std::vector<Round> rounds;
    for (const std::vector<int>& steps : dissemination_steps(setup.ranks, static_cast<int>(setup.peers))) {
      Round& round = rounds.emplace_back();
      for (const int step : steps) {
        round.told.push_back((setup.self + step) % setup.ranks);
        round.awaited.push_back((setup.self - step + setup.ranks) % setup.ranks);
      }
    }
    return rounds;
  }

  // All sends are completed at the end, since no two go to the same peer.
  template <MessageView M, Clock C>
  static void pass(Workspace<M, C>& work, const std::vector<Round>& rounds, std::size_t bytes) {
    auto& [messages, clock, out, in] = work;
    for (const Round& round : rounds) {
      for (const Rank peer : round.told) messages.post_send(peer, out, bytes);
      for (const Rank peer : round.awaited) messages.recv(peer, in, bytes);
    }
    messages.wait_sends();
  }

  // The first barrier only brings the ranks together.
  template <MessageView M, Clock C>
  static Part client(Workspace<M, C>& work, const SeriesSetup& setup) {
    return [&work, setup, rounds = rounds_of(setup)] {
      const std::size_t bytes = setup.message_bytes;
      const std::int64_t batch = setup.batch;
      pass(work, rounds, bytes);
      settle_together(work, setup.ranks);
      const Ticks begin = work.clock.now();
      for (std::int64_t i = 0; i < batch; ++i) pass(work, rounds, bytes);
      return Interval{begin, work.clock.now()};
    };
  }

  template <MessageView M, Clock C>
  static Part server(Workspace<M, C>& work, const SeriesSetup& setup) {
    return client(work, setup);
  }
};

}  // namespace chiplog::patterns
