// k pairs at once: PRTT(n,0,s) between each client and its server, or windows of messages one way.
#pragma once

#include <span>

#include "core/pair_groups.hpp"
#include "patterns/workspace.hpp"

namespace chiplog::patterns {

// The first client lets all go when all have said that they and their servers are ready; then each times itself.
template <MessageView M, Clock C>
void start_together(Workspace<M, C>& work, const SeriesSetup& setup) {
  auto& [messages, clock, out, in] = work;
  messages.recv(setup.partner, in, no_bytes);
  const std::span<const Rank> clients(setup.groups->clients.data(), static_cast<std::size_t>(setup.pairs));
  const Rank first = clients.front();
  if (setup.self != first) {
    messages.send(first, out, no_bytes);
    messages.recv(first, in, no_bytes);
  } else {
    for (const Rank other : clients.subspan(1)) messages.recv(other, in, no_bytes);
    for (const Rank other : clients.subspan(1)) messages.send(other, out, no_bytes);
  }
  settle_together(work, setup.pairs);
}

template <MessageView M, Clock C>
Interval pairs_client(Workspace<M, C>& work, const SeriesSetup& setup) {
  auto& [messages, clock, out, in] = work;
  start_together(work, setup);
  const Ticks begin = clock.now();
  for (std::int64_t i = 0; i < setup.batch; ++i) {
    for (std::int64_t sent = 0; sent < setup.train; ++sent) messages.send(setup.partner, out, setup.message_bytes);
    messages.recv(setup.partner, in, setup.message_bytes);
  }
  return {begin, clock.now()};
}

template <MessageView M, Clock C>
Interval pairs_server(Workspace<M, C>& work, const SeriesSetup& setup) {
  auto& [messages, clock, out, in] = work;
  messages.send(setup.partner, out, no_bytes);
  for (std::int64_t i = 0; i < setup.batch; ++i) {
    for (std::int64_t received = 0; received < setup.train; ++received) {
      messages.recv(setup.partner, in, setup.message_bytes);
    }
    messages.send(setup.partner, out, setup.message_bytes);
  }
  return {};
}

// As osu_mbw_mr does it: a window of messages, posted at once where the messages can, and an empty answer to them all.
template <MessageView M, Clock C>
Interval pairs_one_way_client(Workspace<M, C>& work, const SeriesSetup& setup) {
  auto& [messages, clock, out, in] = work;
  start_together(work, setup);
  const Ticks begin = clock.now();
  for (std::int64_t i = 0; i < setup.batch; ++i) messages.post_send(setup.partner, out, setup.message_bytes);
  messages.wait_sends();
  await_acknowledgement(work, setup.partner);
  return {begin, clock.now()};
}

template <MessageView M, Clock C>
Interval pairs_one_way_server(Workspace<M, C>& work, const SeriesSetup& setup) {
  auto& [messages, clock, out, in] = work;
  messages.send(setup.partner, out, no_bytes);
  for (std::int64_t i = 0; i < setup.batch; ++i) messages.recv(setup.partner, in, setup.message_bytes);
  messages.send(setup.partner, out, no_bytes);
  return {};
}

}  // namespace chiplog::patterns
