// Lets the clients of several pairs begin at the same time.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "patterns/workspace.hpp"

namespace chiplog::patterns {

// The first client releases the others when each has reported that it and its server are ready. In a simulated network
// so many ranks go on at the same time, by default the clients.
template <MessageView M, Clock C>
void start_together(Workspace<M, C>& work, const SeriesSetup& setup, std::span<const Rank> clients,
                    std::optional<std::size_t> parties = std::nullopt) {
  auto& [messages, clock, out, in] = work;
  messages.recv(setup.partner, in, no_bytes);
  const Rank first = clients.front();
  if (setup.self != first) {
    messages.send(first, out, no_bytes);
    messages.recv(first, in, no_bytes);
  } else {
    for (const Rank other : clients.subspan(1)) messages.recv(other, in, no_bytes);
    for (const Rank other : clients.subspan(1)) messages.send(other, out, no_bytes);
  }
  settle_together(work, static_cast<std::int64_t>(parties.value_or(clients.size())));
}

// The number of empty messages that this takes.
inline std::int64_t messages_to_start_together(std::int64_t pairs) { return 3 * pairs - 2; }

}  // namespace chiplog::patterns
