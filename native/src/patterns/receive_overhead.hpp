// The server computes for d before each of n receives, so that the message is there: n·o_r + (n-1)·d.
#pragma once

#include "patterns/workspace.hpp"

namespace chiplog::patterns {

template <MessageView M, Clock C>
Interval receive_overhead_client(Workspace<M, C>& work, const SeriesSetup& setup) {
  auto& [messages, clock, out, in] = work;
  for (std::int64_t sent = 0; sent < setup.train; ++sent) messages.send(server_rank, out, setup.message_bytes);
  messages.recv(server_rank, in, no_bytes);
  return {};
}

// The first wait is twice as long, because the acknowledgement of the sample before is still on its way when it
// begins; it is not timed.
template <MessageView M, Clock C>
Interval receive_overhead_server(Workspace<M, C>& work, const SeriesSetup& setup) {
  auto& [messages, clock, out, in] = work;
  clock.busy_wait(2.0 * setup.delay_ns);
  Ticks waited = 0;
  const Ticks begin = clock.now();
  messages.recv(client_rank, in, setup.message_bytes);
  for (std::int64_t received = 1; received < setup.train; ++received) {
    waited += clock.busy_wait(setup.delay_ns);
    messages.recv(client_rank, in, setup.message_bytes);
  }
  const Ticks end = clock.now();
  messages.send(client_rank, out, no_bytes);
  return {begin, end, waited};
}

}  // namespace chiplog::patterns
