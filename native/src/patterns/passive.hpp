// Patterns over operations whose target takes no part: it says that it is there, and lets the library work until it
// hears that all is done. Neither is timed.
#pragma once

#include "patterns/bench.hpp"

namespace chiplog::patterns {

template <Transport T, Clock C>
using Part = Interval (*)(Bench<T, C>&, const SeriesSetup&);

// Some patterns' servers announce themselves anyway.
constexpr bool announces_itself(Pattern pattern) {
  return is_pairs(pattern) || pattern == Pattern::one_to_many || pattern == Pattern::one_to_many_list;
}

template <Transport T, Clock C, class Do>
void for_each_target(const SeriesSetup& setup, Do act) {
  if (is_pairs(setup.pattern)) {
    act(setup.partner);
    return;
  }
  for (Rank peer = server_rank; peer <= static_cast<Rank>(setup.peers); ++peer) act(peer);
}

template <Transport T, Clock C, Part<T, C> part>
Interval passive_client(Bench<T, C>& bench, const SeriesSetup& setup) {
  auto& [transport, clock, out, in] = bench;
  if (!announces_itself(setup.pattern)) {
    for_each_target<T, C>(setup, [&](Rank peer) { bench.transport.recv(peer, bench.in, no_bytes); });
  }
  const Interval interval = part(bench, setup);
  transport.wait_sends();
  for_each_target<T, C>(setup, [&](Rank peer) { bench.transport.send(peer, bench.out, no_bytes); });
  return interval;
}

template <Transport T, Clock C>
Interval passive_server(Bench<T, C>& bench, const SeriesSetup& setup) {
  auto& [transport, clock, out, in] = bench;
  const Rank client = is_pairs(setup.pattern) ? setup.partner : client_rank;
  transport.send(client, out, no_bytes);
  transport.recv(client, in, no_bytes);
  return {};
}

}  // namespace chiplog::patterns
