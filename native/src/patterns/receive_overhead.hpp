// The server computes for d before each of n receives, so that the message has arrived by then: n·o_r + (n-1)·d.
#pragma once

#include "patterns/part.hpp"

namespace chiplog::patterns {

struct ReceiveOverhead {
  static WireCount message_wire_count(const SeriesSetup& setup) {
    const std::int64_t sent = setup.batch * setup.train;
    return {sent + 1, sent * static_cast<std::int64_t>(setup.message_bytes)};
  }
  static bool supports(Operation operation) { return !is_passive(operation); }
  static std::int64_t busy_waits(const SeriesSetup& setup) { return setup.train - 1; }

  static constexpr Pattern pattern{
      .name = "receive_overhead",
      .direction = "call",
      .timed_by = Role::server,
      .delay = Delay::needed,
      .takes_trains = true,
      .message_wire_count = message_wire_count,
      .supports = supports,
      .busy_waits = busy_waits,
  };

  template <MessageView M, Clock C>
  static Part client(Workspace<M, C>& work, const SeriesSetup& setup) {
    return [&work, setup] {
      auto& [messages, clock, out, in] = work;
      for (std::int64_t sent = 0; sent < setup.train; ++sent) messages.send(server_rank, out, setup.message_bytes);
      messages.recv(server_rank, in, no_bytes);
      return Interval{};
    };
  }

  // The first wait is twice as long, because the acknowledgement of the sample before is still on its way when it
  // begins; it is not timed.
  template <MessageView M, Clock C>
  static Part server(Workspace<M, C>& work, const SeriesSetup& setup) {
    return [&work, setup] {
      auto& [messages, clock, out, in] = work;
      const std::size_t bytes = setup.message_bytes;
      clock.busy_wait(2.0 * setup.delay_ns);
      Ticks waited = 0;
      const Ticks begin = clock.now();
      messages.recv(client_rank, in, bytes);
      for (std::int64_t received = 1; received < setup.train; ++received) {
        waited += clock.busy_wait(setup.delay_ns);
        messages.recv(client_rank, in, bytes);
      }
      const Ticks end = clock.now();
      messages.send(client_rank, out, no_bytes);
      return Interval{begin, end, waited};
    };
  }
};

}  // namespace chiplog::patterns
