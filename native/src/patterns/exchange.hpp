// Both ranks of a pair send a message to the other at once, and each receives one: how far a machine is full duplex.
//
// Timed by each pair's client: `batch` exchanges one after the other, an even number. The ranks of a pair can't begin
// at the same instant. By as much as the server begins earlier its message comes earlier, so the client's first
// exchange is too short; but the server ends its own only when the client's message is there, and so the second one is
// as much too long. Two exchanges take 2T however far apart the ranks began.
#pragma once

#include "patterns/pairs.hpp"
#include "patterns/part.hpp"
#include "patterns/start_together.hpp"

namespace chiplog::patterns {

struct Exchange {
  static WireCount message_wire_count(const SeriesSetup& setup) {
    const std::int64_t messages = 2 * setup.pairs * setup.batch;
    return {messages + messages_to_start_together(setup.pairs),
            messages * static_cast<std::int64_t>(setup.message_bytes)};
  }
  static bool supports(Operation operation) { return !is_passive(operation); }
  static std::int64_t posted_at_once(const SeriesSetup& /*setup*/) { return 1; }

  static constexpr Pattern pattern{
      .name = "exchange",
      .direction = "one-way",
      .batches = Batches::exchanges,
      .batch_multiple = 2,
      .takes_pair_groups = true,
      .servers_announce_themselves = true,
      .several_clients = true,
      .message_wire_count = message_wire_count,
      .supports = supports,
      .posted_at_once = posted_at_once,
      .position = detail::place_in_groups,
      .links = detail::links_of_groups,
  };
  template <MessageView M>
  static constexpr bool runs_over = !M::has_passive_targets;

  template <MessageView M, Clock C>
  [[gnu::always_inline]] static inline void exchange(Workspace<M, C>& work, const SeriesSetup& setup) {
    auto& [messages, clock, out, in] = work;
    const std::size_t bytes = setup.message_bytes;
    const std::int64_t batch = setup.batch;
    for (std::int64_t i = 0; i < batch; ++i) exchange_messages(messages, setup.partner, out, bytes, in, bytes);
  }

  template <MessageView M, Clock C>
  static Part client(Workspace<M, C>& work, const SeriesSetup& setup) {
    return [&work, setup] {
      start_together(work, setup, detail::clients_of(setup), ranks_of(setup));
      const Ticks begin = work.clock.now();
      exchange(work, setup);
      return Interval{begin, work.clock.now()};
    };
  }

  template <MessageView M, Clock C>
  static Part server(Workspace<M, C>& work, const SeriesSetup& setup) {
    return [&work, setup] {
      work.messages.send(setup.partner, work.out, no_bytes);
      settle_together(work, static_cast<std::int64_t>(ranks_of(setup)));
      exchange(work, setup);
      return Interval{};
    };
  }

 private:
  static std::size_t ranks_of(const SeriesSetup& setup) { return 2 * static_cast<std::size_t>(setup.pairs); }
};

}  // namespace chiplog::patterns
