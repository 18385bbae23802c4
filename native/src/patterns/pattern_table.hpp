// Both parts of every pattern, for one messages (or view of one) and clock.
#pragma once

#include <array>

#include "patterns/barrier.hpp"
#include "patterns/flood.hpp"
#include "patterns/late_receiver.hpp"
#include "patterns/one_to_many.hpp"
#include "patterns/pairs.hpp"
#include "patterns/passive.hpp"
#include "patterns/ping_pong.hpp"
#include "patterns/prtt.hpp"
#include "patterns/receive_overhead.hpp"
#include "patterns/send_overhead.hpp"

namespace chiplog::patterns {

template <MessageView M, Clock C>
struct Parts {
  PartFunction<M, C> client = nullptr;
  PartFunction<M, C> server = nullptr;
};

template <MessageView M, Clock C, PartFunction<M, C> client, PartFunction<M, C> server>
constexpr Parts<M, C> parts() {
  if constexpr (M::has_passive_targets) {
    return {passive_client<M, C, client>, passive_server<M, C>};
  } else {
    return {client, server};
  }
}

// Null where the messages posts no lists: requests for them are refused.
template <MessageView M, Clock C>
constexpr std::array<Parts<M, C>, 2> list_parts() {
  if constexpr (PostsLists<M>) {
    return {parts<M, C, one_to_many_list_client<M, C>, one_to_many_server<M, C>>(),
            parts<M, C, send_overhead_list_client<M, C>, send_overhead_server<M, C>>()};
  } else {
    return {};
  }
}

// Null where targets take no part: requests for it are refused.
template <MessageView M, Clock C>
constexpr Parts<M, C> barrier_parts() {
  if constexpr (M::has_passive_targets) {
    return {};
  } else {
    return {barrier<M, C>, barrier<M, C>};
  }
}

// In the order of enum Pattern.
template <MessageView M, Clock C>
inline constexpr std::array<Parts<M, C>, pattern_count> table{{
    parts<M, C, ping_pong_client<M, C>, ping_pong_server<M, C>>(),
    parts<M, C, prtt_client<M, C>, prtt_server<M, C>>(),
    parts<M, C, send_overhead_client<M, C>, send_overhead_server<M, C>>(),
    parts<M, C, receive_overhead_client<M, C>, receive_overhead_server<M, C>>(),
    parts<M, C, flood_client<M, C>, flood_server<M, C>>(),
    parts<M, C, late_receiver_client<M, C>, late_receiver_server<M, C>>(),
    parts<M, C, one_to_many_client<M, C>, one_to_many_server<M, C>>(),
    parts<M, C, pairs_client<M, C>, pairs_server<M, C>>(),
    parts<M, C, pairs_one_way_client<M, C>, pairs_one_way_server<M, C>>(),
    list_parts<M, C>()[0],
    list_parts<M, C>()[1],
    barrier_parts<M, C>(),
}};

template <MessageView M, Clock C>
Part resolve(Workspace<M, C>& work, Role role, const SeriesSetup& setup) {
  const Parts<M, C>& both = table<M, C>[static_cast<std::size_t>(setup.pattern)];
  const PartFunction<M, C> part = role == Role::client ? both.client : both.server;
  return [part, &work, setup] { return part(work, setup); };
}

}  // namespace chiplog::patterns
