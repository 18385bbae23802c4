// Both parts of every pattern, for one transport (or view of one) and clock.
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

template <Transport T, Clock C>
struct Parts {
  Part<T, C> client = nullptr;
  Part<T, C> server = nullptr;
};

template <Transport T, Clock C, Part<T, C> client, Part<T, C> server>
constexpr Parts<T, C> parts() {
  if constexpr (has_passive_targets<T>) {
    return {passive_client<T, C, client>, passive_server<T, C>};
  } else {
    return {client, server};
  }
}

// Null where the transport posts no lists: requests for them are refused.
template <Transport T, Clock C>
constexpr std::array<Parts<T, C>, 2> list_parts() {
  if constexpr (PostsLists<T>) {
    return {parts<T, C, one_to_many_list_client<T, C>, one_to_many_server<T, C>>(),
            parts<T, C, send_overhead_list_client<T, C>, send_overhead_server<T, C>>()};
  } else {
    return {};
  }
}

// Null where targets take no part: requests for it are refused.
template <Transport T, Clock C>
constexpr Parts<T, C> barrier_parts() {
  if constexpr (has_passive_targets<T>) {
    return {};
  } else {
    return {barrier<T, C>, barrier<T, C>};
  }
}

// In the order of enum Pattern.
template <Transport T, Clock C>
inline constexpr std::array<Parts<T, C>, pattern_count> table{{
    parts<T, C, ping_pong_client<T, C>, ping_pong_server<T, C>>(),
    parts<T, C, prtt_client<T, C>, prtt_server<T, C>>(),
    parts<T, C, send_overhead_client<T, C>, send_overhead_server<T, C>>(),
    parts<T, C, receive_overhead_client<T, C>, receive_overhead_server<T, C>>(),
    parts<T, C, flood_client<T, C>, flood_server<T, C>>(),
    parts<T, C, late_receiver_client<T, C>, late_receiver_server<T, C>>(),
    parts<T, C, one_to_many_client<T, C>, one_to_many_server<T, C>>(),
    parts<T, C, pairs_client<T, C>, pairs_server<T, C>>(),
    parts<T, C, pairs_one_way_client<T, C>, pairs_one_way_server<T, C>>(),
    list_parts<T, C>()[0],
    list_parts<T, C>()[1],
    barrier_parts<T, C>(),
}};

}  // namespace chiplog::patterns
