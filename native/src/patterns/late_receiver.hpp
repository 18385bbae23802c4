// One send to a receiver that computes for d before it receives: about o_s if the messages is eager at this size,
// at least d if the send waits for its receive. The sharpest mark of an eager limit (LogGPS's S).
#pragma once

#include "patterns/workspace.hpp"

namespace chiplog::patterns {

template <MessageView M, Clock C>
Interval late_receiver_client(Workspace<M, C>& work, const SeriesSetup& setup) {
  auto& [messages, clock, out, in] = work;
  messages.send(server_rank, out, no_bytes);
  const Ticks begin = clock.now();
  messages.send(server_rank, out, setup.message_bytes);
  const Ticks end = clock.now();
  messages.recv(server_rank, in, no_bytes);
  return {begin, end};
}

// Its delay begins when the empty message tells that the client is at its send.
template <MessageView M, Clock C>
Interval late_receiver_server(Workspace<M, C>& work, const SeriesSetup& setup) {
  auto& [messages, clock, out, in] = work;
  messages.recv(client_rank, in, no_bytes);
  const Ticks waited = clock.busy_wait(setup.delay_ns);
  messages.recv(client_rank, in, setup.message_bytes);
  messages.send(client_rank, out, no_bytes);
  return {.waited = waited};
}

}  // namespace chiplog::patterns
