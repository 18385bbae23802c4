// Patterns over operations whose target takes no part: it says that it is there, and lets the library work until it
// hears that all is done. Neither is timed.
#pragma once

#include "patterns/part.hpp"

namespace chiplog::patterns {

// Some patterns' servers announce themselves anyway.
constexpr bool announces_itself(Pattern pattern) {
  return is_pairs(pattern) || pattern == Pattern::one_to_many || pattern == Pattern::one_to_many_list;
}

template <MessageView M, Clock C, class Do>
void for_each_target(const SeriesSetup& setup, Do act) {
  if (is_pairs(setup.pattern)) {
    act(setup.partner);
    return;
  }
  for (Rank peer = server_rank; peer <= static_cast<Rank>(setup.peers); ++peer) act(peer);
}

template <MessageView M, Clock C, PartFunction<M, C> part>
Interval passive_client(Workspace<M, C>& work, const SeriesSetup& setup) {
  auto& [messages, clock, out, in] = work;
  if (!announces_itself(setup.pattern)) {
    for_each_target<M, C>(setup, [&](Rank peer) { work.messages.recv(peer, work.in, no_bytes); });
  }
  const Interval interval = part(work, setup);
  messages.wait_sends();
  for_each_target<M, C>(setup, [&](Rank peer) { work.messages.send(peer, work.out, no_bytes); });
  return interval;
}

template <MessageView M, Clock C>
Interval passive_server(Workspace<M, C>& work, const SeriesSetup& setup) {
  auto& [messages, clock, out, in] = work;
  const Rank client = is_pairs(setup.pattern) ? setup.partner : client_rank;
  messages.send(client, out, no_bytes);
  messages.recv(client, in, no_bytes);
  return {};
}

}  // namespace chiplog::patterns
