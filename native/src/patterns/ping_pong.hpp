// There and back again: RTT, or with a delay d > RTT between send and receive d + o_s + o_r (Culler).
#pragma once

#include "patterns/part.hpp"

namespace chiplog::patterns {

struct PingPong {
  static WireCount message_wire_count(const SeriesSetup& setup) {
    return {2 * setup.batch, 2 * setup.batch * static_cast<std::int64_t>(setup.message_bytes)};
  }
  static WireCount passive_wire_count(const SeriesSetup& setup) {
    return {2 * setup.batch + 1, setup.batch * static_cast<std::int64_t>(setup.message_bytes)};
  }
  static std::int64_t busy_waits(const SeriesSetup& setup) { return setup.batch; }

  static constexpr Pattern pattern{
      .name = "ping_pong",
      .direction = "round-trip",
      .batches = Batches::exchanges,
      .delay = Delay::optional,
      .message_wire_count = message_wire_count,
      .passive_wire_count = passive_wire_count,
      .busy_waits = busy_waits,
  };

  template <MessageView M, Clock C>
  static Part client(Workspace<M, C>& work, const SeriesSetup& setup) {
    if (setup.delay_ns > 0.0) return [&work, setup] { return delayed_round_trips(work, setup); };
    return [&work, setup] { return round_trips(work, setup); };
  }

  template <MessageView M, Clock C>
  static Interval round_trips(Workspace<M, C>& work, const SeriesSetup& setup) {
    auto& [messages, clock, out, in] = work;
    const std::size_t bytes = setup.message_bytes;
    const std::int64_t batch = setup.batch;
    const Ticks begin = clock.now();
    for (std::int64_t i = 0; i < batch; ++i) {
      messages.send(server_rank, out, bytes);
      messages.recv(server_rank, in, bytes);
    }
    return {begin, clock.now()};
  }

  template <MessageView M, Clock C>
  static Interval delayed_round_trips(Workspace<M, C>& work, const SeriesSetup& setup) {
    auto& [messages, clock, out, in] = work;
    const std::size_t bytes = setup.message_bytes;
    const std::int64_t batch = setup.batch;
    Ticks waited = 0;
    const Ticks begin = clock.now();
    for (std::int64_t i = 0; i < batch; ++i) {
      messages.send(server_rank, out, bytes);
      waited += clock.busy_wait(setup.delay_ns);
      messages.recv(server_rank, in, bytes);
    }
    return {begin, clock.now(), waited};
  }

  template <MessageView M, Clock C>
  static Part server(Workspace<M, C>& work, const SeriesSetup& setup) {
    return [&work, setup] {
      auto& [messages, clock, out, in] = work;
      const std::size_t bytes = setup.message_bytes;
      const std::int64_t batch = setup.batch;
      for (std::int64_t i = 0; i < batch; ++i) {
        messages.recv(client_rank, in, bytes);
        messages.send(client_rank, out, bytes);
      }
      return Interval{};
    };
  }
};

}  // namespace chiplog::patterns
