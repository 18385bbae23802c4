// The objects that a pattern uses, and its result.
#pragma once

#include "chiplog/abilities.hpp"
#include "chiplog/clock.hpp"
#include "core/pattern.hpp"
#include "patterns/views/view.hpp"

namespace chiplog {

// A timed interval, on the rank that times one, and the sum of what its busy waits took, on the rank that waits.
struct Interval {
  Ticks begin = 0;
  Ticks end = 0;
  Ticks waited = 0;
};

template <MessageView M, Clock C>
struct Workspace {
  template <Messaging T>
  Workspace(T& transport, C& own_clock, const RankSettings& self, std::size_t bytes)
      : messages(transport, self),
        clock(own_clock),
        out(messages.make_buffer(bytes)),
        in(messages.make_buffer(bytes)) {}

  M messages;
  C& clock;
  typename M::Buffer out;
  typename M::Buffer in;
};

namespace patterns {

inline constexpr Rank client_rank = 0;
inline constexpr Rank server_rank = 1;
inline constexpr std::size_t no_bytes = 0;

// Waits for the end of a train: the empty message of the peer that has received all of it.
template <MessageView M, Clock C>
void await_acknowledgement(Workspace<M, C>& work, Rank peer) {
  if constexpr (M::has_passive_targets) {
    work.messages.wait_sends();
  } else {
    work.messages.recv(peer, work.in, no_bytes);
  }
}

// A simulated network is idle when these return; the second returns on so many ranks at the same time. Real networks
// are left alone.
template <MessageView M, Clock C>
void settle(Workspace<M, C>& work) {
  if constexpr (offers<M, ability::Settles>) work.messages.settle();
}
template <MessageView M, Clock C>
void settle_together(Workspace<M, C>& work, std::int64_t parties) {
  if constexpr (offers<M, ability::Settles>) work.messages.settle_together(static_cast<int>(parties));
}

}  // namespace patterns
}  // namespace chiplog
