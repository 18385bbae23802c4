// n messages back to back, then an empty acknowledgement after all of them: total/n approaches the gap.
#pragma once

#include "patterns/part.hpp"
#include "patterns/trains.hpp"

namespace chiplog::patterns {

struct Flood {
  static WireCount message_wire_count(const SeriesSetup& setup) {
    const std::int64_t sent = setup.batch * setup.train;
    return {sent + setup.batch, sent * static_cast<std::int64_t>(setup.message_bytes)};
  }

  static constexpr Pattern pattern{
      .name = "flood",
      .direction = "round-trip",
      .batches = Batches::exchanges,
      .takes_trains = true,
      .message_wire_count = message_wire_count,
  };

  template <MessageView M, Clock C>
  static Part client(Workspace<M, C>& work, const SeriesSetup& setup) {
    return [&work, setup] {
      auto& [messages, clock, out, in] = work;
      const std::size_t bytes = setup.message_bytes;
      const std::int64_t train = setup.train;
      const std::int64_t batch = setup.batch;
      const Ticks begin = clock.now();
      for (std::int64_t i = 0; i < batch; ++i) {
        for (std::int64_t sent = 0; sent < train; ++sent) messages.send(server_rank, out, bytes);
        await_acknowledgement(work, server_rank);
      }
      return Interval{begin, clock.now()};
    };
  }

  template <MessageView M, Clock C>
  static Part server(Workspace<M, C>& work, const SeriesSetup& setup) {
    return [&work, setup] {
      answer_trains(work, setup, client_rank, no_bytes);
      return Interval{};
    };
  }
};

}  // namespace chiplog::patterns
