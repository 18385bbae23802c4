// Patterns over operations whose target takes no part: the target announces itself and drives the library until it is
// told that everything is done. Neither is timed.
#pragma once

#include <utility>
#include <vector>

#include "patterns/part.hpp"

namespace chiplog::patterns {

// `sample` is what the client does where targets take part.
template <MessageView M, Clock C>
Part passive_client(Workspace<M, C>& work, const SeriesSetup& setup, Part sample) {
  std::vector<Rank> targets;
  for (const Link& link : setup.pattern->links(setup)) {
    if (link.client == setup.self) targets.push_back(link.server);
  }
  const bool await_targets = !setup.pattern->servers_announce_themselves;
  return [&work, targets = std::move(targets), await_targets, sample = std::move(sample)] {
    auto& [messages, clock, out, in] = work;
    if (await_targets) {
      for (const Rank target : targets) messages.recv(target, in, no_bytes);
    }
    const Interval interval = sample();
    messages.wait_sends();
    for (const Rank target : targets) messages.send(target, out, no_bytes);
    return interval;
  };
}

template <MessageView M, Clock C>
Part passive_server(Workspace<M, C>& work, const SeriesSetup& setup) {
  return [&work, client = setup.partner] {
    auto& [messages, clock, out, in] = work;
    messages.send(client, out, no_bytes);
    messages.recv(client, in, no_bytes);
    return Interval{};
  };
}

}  // namespace chiplog::patterns
