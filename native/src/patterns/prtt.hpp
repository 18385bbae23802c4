// PRTT(n, d, s): n messages with computation d between them, then one message back after ALL n have arrived.
#pragma once

#include "patterns/part.hpp"
#include "patterns/trains.hpp"

namespace chiplog::patterns {

struct Prtt {
  static WireCount message_wire_count(const SeriesSetup& setup) {
    const std::int64_t messages = setup.batch * (setup.train + 1);
    return {messages, messages * static_cast<std::int64_t>(setup.message_bytes)};
  }
  static std::int64_t busy_waits(const SeriesSetup& setup) { return setup.batch * (setup.train - 1); }

  static constexpr Pattern pattern{
      .name = "prtt",
      .direction = "round-trip",
      .batches = Batches::exchanges,
      .delay = Delay::optional,
      .takes_trains = true,
      .message_wire_count = message_wire_count,
      .busy_waits = busy_waits,
  };

  template <MessageView M, Clock C>
  static Part client(Workspace<M, C>& work, const SeriesSetup& setup) {
    if (setup.delay_ns > 0.0) return [&work, setup] { return delayed_trains(work, setup); };
    return [&work, setup] { return time_trains(work, setup, server_rank); };
  }

  template <MessageView M, Clock C>
  static Interval delayed_trains(Workspace<M, C>& work, const SeriesSetup& setup) {
    auto& [messages, clock, out, in] = work;
    const std::size_t bytes = setup.message_bytes;
    const std::int64_t train = setup.train;
    const std::int64_t batch = setup.batch;
    Ticks waited = 0;
    const Ticks begin = clock.now();
    for (std::int64_t i = 0; i < batch; ++i) {
      messages.send(server_rank, out, bytes);
      for (std::int64_t sent = 1; sent < train; ++sent) {
        waited += clock.busy_wait(setup.delay_ns);
        messages.send(server_rank, out, bytes);
      }
      messages.recv(server_rank, in, bytes);
    }
    return {begin, clock.now(), waited};
  }

  template <MessageView M, Clock C>
  static Part server(Workspace<M, C>& work, const SeriesSetup& setup) {
    return [&work, setup] {
      answer_trains(work, setup, client_rank, setup.message_bytes);
      return Interval{};
    };
  }
};

}  // namespace chiplog::patterns
