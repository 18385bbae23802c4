// Trains of messages, each answered by one message after ALL of it has arrived: what several patterns are made of.
#pragma once

#include "patterns/part.hpp"

namespace chiplog::patterns {

// The client's loop, timed: `batch` trains to `server`, each answered by a message of the same size. It is compiled
// into each caller, so that a rank known there stays a constant.
template <MessageView M, Clock C>
[[gnu::always_inline]] inline Interval time_trains(Workspace<M, C>& work, const SeriesSetup& setup, Rank server) {
  auto& [messages, clock, out, in] = work;
  const std::size_t bytes = setup.message_bytes;
  const std::int64_t train = setup.train;
  const std::int64_t batch = setup.batch;
  const Ticks begin = clock.now();
  for (std::int64_t i = 0; i < batch; ++i) {
    for (std::int64_t sent = 0; sent < train; ++sent) messages.send(server, out, bytes);
    messages.recv(server, in, bytes);
  }
  return {begin, clock.now()};
}

// The server's side: `batch` trains from `client`, each answered by a message of `answer_bytes`.
template <MessageView M, Clock C>
[[gnu::always_inline]] inline void answer_trains(Workspace<M, C>& work, const SeriesSetup& setup, Rank client,
                                                 std::size_t answer_bytes) {
  auto& [messages, clock, out, in] = work;
  const std::size_t bytes = setup.message_bytes;
  const std::int64_t train = setup.train;
  const std::int64_t batch = setup.batch;
  for (std::int64_t i = 0; i < batch; ++i) {
    for (std::int64_t received = 0; received < train; ++received) messages.recv(client, in, bytes);
    messages.send(client, out, answer_bytes);
  }
}

}  // namespace chiplog::patterns
