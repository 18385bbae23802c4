// n messages back to back, then an empty acknowledgement after all of them: total/n approaches the gap.
#pragma once

#include "patterns/workspace.hpp"

namespace chiplog::patterns {

template <MessageView M, Clock C>
Interval flood_client(Workspace<M, C>& work, const SeriesSetup& setup) {
  auto& [messages, clock, out, in] = work;
  const Ticks begin = clock.now();
  for (std::int64_t i = 0; i < setup.batch; ++i) {
    for (std::int64_t sent = 0; sent < setup.train; ++sent) messages.send(server_rank, out, setup.message_bytes);
    await_acknowledgement(work, server_rank);
  }
  return {begin, clock.now()};
}

template <MessageView M, Clock C>
Interval flood_server(Workspace<M, C>& work, const SeriesSetup& setup) {
  auto& [messages, clock, out, in] = work;
  for (std::int64_t i = 0; i < setup.batch; ++i) {
    for (std::int64_t received = 0; received < setup.train; ++received) {
      messages.recv(client_rank, in, setup.message_bytes);
    }
    messages.send(client_rank, out, no_bytes);
  }
  return {};
}

}  // namespace chiplog::patterns
