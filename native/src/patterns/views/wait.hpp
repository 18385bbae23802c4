// Waiting for one's own memory to be changed by a peer.
#pragma once

#include <chrono>
#include <string>

#include "chiplog/abilities.hpp"
#include "chiplog/error.hpp"
#include "chiplog/remote_memory.hpp"

namespace chiplog::views {

template <WritesRemotely T, class Ready>
void wait_until(T& transport, Rank peer, std::chrono::nanoseconds time_limit, Ready ready) {
  if constexpr (offers<T, ability::WaitsForMemory>) {
    transport.wait_until(peer, ready);
  } else {
    constexpr int looks_a_reading = 1 << 16;
    const auto since = std::chrono::steady_clock::now();
    while (true) {
      for (int look = 0; look < looks_a_reading; ++look) {
        if (ready()) return;
        transport.progress();
      }
      if (std::chrono::steady_clock::now() - since > time_limit) {
        throw TimedOut("nothing was written by rank " + std::to_string(peer) + " within the time limit");
      }
    }
  }
}

}  // namespace chiplog::views
