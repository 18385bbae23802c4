// The n-way dissemination barrier of all ranks, message by message: the rounds that libchiplog_coll runs over MPI.
#pragma once

#include <cstdint>

#include "core/barrier_algorithms.hpp"
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

  static BarrierSchedule schedule_of(const SeriesSetup& setup) {
    return barriers::n_way(setup.ranks, setup.self, static_cast<int>(setup.peers));
  }

  // All sends are completed at the end, since no two go to the same peer.
  template <MessageView M, Clock C>
  static void pass(Workspace<M, C>& work, const BarrierSchedule& rounds, std::size_t bytes) {
    auto& [messages, clock, out, in] = work;
    for (const BarrierRound& round : rounds) {
      for (const Rank peer : round.tells) messages.post_send(peer, out, bytes);
      for (const Rank peer : round.hears) messages.recv(peer, in, bytes);
    }
    messages.wait_sends();
  }

  // The first barrier only brings the ranks together.
  template <MessageView M, Clock C>
  static Part client(Workspace<M, C>& work, const SeriesSetup& setup) {
    return [&work, setup, rounds = schedule_of(setup)] {
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
