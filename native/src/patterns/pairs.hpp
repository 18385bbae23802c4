// k pairs at once: PRTT(n,0,s) between each client and its server, or windows of messages one way.
#pragma once

#include <span>

#include "core/pair_groups.hpp"
#include "patterns/bench.hpp"

namespace chiplog::patterns {

// The first client lets all go when all have said that they and their servers are ready; then each times itself.
template <Transport T, Clock C>
void start_together(Bench<T, C>& bench, const SeriesSetup& setup) {
  auto& [transport, clock, out, in] = bench;
  transport.recv(setup.partner, in, no_bytes);
  const std::span<const Rank> clients(setup.groups->clients.data(), static_cast<std::size_t>(setup.pairs));
  const Rank first = clients.front();
  if (setup.self != first) {
    transport.send(first, out, no_bytes);
    transport.recv(first, in, no_bytes);
  } else {
    for (const Rank other : clients.subspan(1)) transport.recv(other, in, no_bytes);
    for (const Rank other : clients.subspan(1)) transport.send(other, out, no_bytes);
  }
  if constexpr (requires { bench.transport.settle_together(1); }) {
    transport.settle_together(static_cast<int>(setup.pairs));
  }
}

template <Transport T, Clock C>
Interval pairs_client(Bench<T, C>& bench, const SeriesSetup& setup) {
  auto& [transport, clock, out, in] = bench;
  start_together(bench, setup);
  const Ticks begin = clock.now();
  for (std::int64_t i = 0; i < setup.batch; ++i) {
    for (std::int64_t sent = 0; sent < setup.train; ++sent) transport.send(setup.partner, out, setup.message_bytes);
    transport.recv(setup.partner, in, setup.message_bytes);
  }
  return {begin, clock.now()};
}

template <Transport T, Clock C>
Interval pairs_server(Bench<T, C>& bench, const SeriesSetup& setup) {
  auto& [transport, clock, out, in] = bench;
  transport.send(setup.partner, out, no_bytes);
  for (std::int64_t i = 0; i < setup.batch; ++i) {
    for (std::int64_t received = 0; received < setup.train; ++received) {
      transport.recv(setup.partner, in, setup.message_bytes);
    }
    transport.send(setup.partner, out, setup.message_bytes);
  }
  return {};
}

// As osu_mbw_mr does it: a window of messages, posted at once where the transport can, and an empty answer to them all.
template <Transport T, Clock C>
Interval pairs_one_way_client(Bench<T, C>& bench, const SeriesSetup& setup) {
  auto& [transport, clock, out, in] = bench;
  start_together(bench, setup);
  const Ticks begin = clock.now();
  for (std::int64_t i = 0; i < setup.batch; ++i) transport.post_send(setup.partner, out, setup.message_bytes);
  transport.wait_sends();
  await_acknowledgement(bench, setup.partner);
  return {begin, clock.now()};
}

template <Transport T, Clock C>
Interval pairs_one_way_server(Bench<T, C>& bench, const SeriesSetup& setup) {
  auto& [transport, clock, out, in] = bench;
  transport.send(setup.partner, out, no_bytes);
  for (std::int64_t i = 0; i < setup.batch; ++i) transport.recv(setup.partner, in, setup.message_bytes);
  transport.send(setup.partner, out, no_bytes);
  return {};
}

}  // namespace chiplog::patterns
