// One send to a receiver that computes for d before it receives: about o_s if the transport is eager at this size,
// at least d if the send waits for its receive. The sharpest mark of an eager limit (LogGPS's S).
#pragma once

#include "patterns/part.hpp"

namespace chiplog::patterns {

struct LateReceiver {
  static WireCount message_wire_count(const SeriesSetup& setup) {
    return {3, static_cast<std::int64_t>(setup.message_bytes)};
  }
  static bool supports(Operation operation) { return operation == Operation::send; }
  static std::int64_t busy_waits(const SeriesSetup& /*setup*/) { return 1; }

  static constexpr Pattern pattern{
      .name = "late_receiver",
      .direction = "call",
      .delay = Delay::needed,
      .needs_synchronising_transport = true,
      .message_wire_count = message_wire_count,
      .supports = supports,
      .busy_waits = busy_waits,
  };

  template <MessageView M, Clock C>
  static Part client(Workspace<M, C>& work, const SeriesSetup& setup) {
    return [&work, setup] {
      auto& [messages, clock, out, in] = work;
      messages.send(server_rank, out, no_bytes);
      const Ticks begin = clock.now();
      messages.send(server_rank, out, setup.message_bytes);
      const Ticks end = clock.now();
      messages.recv(server_rank, in, no_bytes);
      return Interval{begin, end};
    };
  }

  // The delay begins when the empty message says that the client is about to send.
  template <MessageView M, Clock C>
  static Part server(Workspace<M, C>& work, const SeriesSetup& setup) {
    return [&work, setup] {
      auto& [messages, clock, out, in] = work;
      messages.recv(client_rank, in, no_bytes);
      const Ticks waited = clock.busy_wait(setup.delay_ns);
      messages.recv(client_rank, in, setup.message_bytes);
      messages.send(client_rank, out, no_bytes);
      return Interval{.waited = waited};
    };
  }
};

}  // namespace chiplog::patterns
