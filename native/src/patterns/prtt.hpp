// PRTT(n, d, s): n messages with computation d between them, then one message back after ALL n have arrived.
#pragma once

#include "patterns/workspace.hpp"

namespace chiplog::patterns {

template <MessageView M, Clock C>
Interval prtt_client(Workspace<M, C>& work, const SeriesSetup& setup) {
  auto& [messages, clock, out, in] = work;
  const bool delayed = setup.delay_ns > 0.0;
  Ticks waited = 0;
  const Ticks begin = clock.now();
  for (std::int64_t i = 0; i < setup.batch; ++i) {
    messages.send(server_rank, out, setup.message_bytes);
    for (std::int64_t sent = 1; sent < setup.train; ++sent) {
      if (delayed) waited += clock.busy_wait(setup.delay_ns);
      messages.send(server_rank, out, setup.message_bytes);
    }
    messages.recv(server_rank, in, setup.message_bytes);
  }
  return {begin, clock.now(), waited};
}

template <MessageView M, Clock C>
Interval prtt_server(Workspace<M, C>& work, const SeriesSetup& setup) {
  auto& [messages, clock, out, in] = work;
  for (std::int64_t i = 0; i < setup.batch; ++i) {
    for (std::int64_t received = 0; received < setup.train; ++received) {
      messages.recv(client_rank, in, setup.message_bytes);
    }
    messages.send(client_rank, out, setup.message_bytes);
  }
  return {};
}

}  // namespace chiplog::patterns
