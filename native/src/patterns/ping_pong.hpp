// There and back again: RTT, or with a delay d > RTT between send and receive d + o_s + o_r (Culler).
#pragma once

#include "patterns/workspace.hpp"

namespace chiplog::patterns {

template <MessageView M, Clock C>
Interval ping_pong_client(Workspace<M, C>& work, const SeriesSetup& setup) {
  auto& [messages, clock, out, in] = work;
  const bool delayed = setup.delay_ns > 0.0;
  Ticks waited = 0;
  const Ticks begin = clock.now();
  for (std::int64_t i = 0; i < setup.batch; ++i) {
    messages.send(server_rank, out, setup.message_bytes);
    if (delayed) waited += clock.busy_wait(setup.delay_ns);
    messages.recv(server_rank, in, setup.message_bytes);
  }
  return {begin, clock.now(), waited};
}

template <MessageView M, Clock C>
Interval ping_pong_server(Workspace<M, C>& work, const SeriesSetup& setup) {
  auto& [messages, clock, out, in] = work;
  for (std::int64_t i = 0; i < setup.batch; ++i) {
    messages.recv(client_rank, in, setup.message_bytes);
    messages.send(client_rank, out, setup.message_bytes);
  }
  return {};
}

}  // namespace chiplog::patterns
