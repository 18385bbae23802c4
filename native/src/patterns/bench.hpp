// What a pattern works with, and what it gives back.
#pragma once

#include <concepts>

#include "chiplog/clock.hpp"
#include "chiplog/transport.hpp"
#include "core/pattern.hpp"

namespace chiplog {

// A timed interval, on the rank that times one, and the sum of what its busy waits took, on the rank that waits.
struct Interval {
  Ticks begin = 0;
  Ticks end = 0;
  Ticks waited = 0;
};

template <Transport T, Clock C>
struct Bench {
  T& transport;
  C& clock;
  typename T::Buffer out;
  typename T::Buffer in;
};

// Whose targets take no part: no answer comes back but the completion.
template <class T>
inline constexpr bool has_passive_targets = requires { requires T::passive_targets; };

namespace patterns {

inline constexpr Rank client_rank = 0;
inline constexpr Rank server_rank = 1;
inline constexpr std::size_t no_bytes = 0;

// What ends a train: the empty message of a peer that has received it all.
template <Transport T, Clock C>
void await_acknowledgement(Bench<T, C>& bench, Rank peer) {
  if constexpr (has_passive_targets<T>) {
    bench.transport.wait_sends();
  } else {
    bench.transport.recv(peer, bench.in, no_bytes);
  }
}

}  // namespace patterns
}  // namespace chiplog
