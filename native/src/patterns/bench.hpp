// What a pattern works with, and what it gives back.
#pragma once

#include <concepts>

#include "chiplog/clock.hpp"
#include "chiplog/transport.hpp"
#include "core/pattern.hpp"

namespace chiplog {

struct Interval {
  Ticks begin = 0;
  Ticks end = 0;
};

template <Transport T, Clock C>
struct Bench {
  T& transport;
  C& clock;
  typename T::Buffer out;
  typename T::Buffer in;
};

// A transport that hands sends to several ranks over with one call. `prepare_list` makes one send to each of the ranks
// `first` to `last`, `start_list` posts them all, `wait_list` waits until the buffer may be used again and `drop_list`
// forgets them.
template <class T>
concept PostsLists = requires(T transport, typename T::Buffer& buffer, Rank rank, std::size_t bytes) {
  { transport.prepare_list(rank, rank, buffer, bytes) } -> std::same_as<void>;
  { transport.start_list() } -> std::same_as<void>;
  { transport.wait_list() } -> std::same_as<void>;
  { transport.drop_list() } -> std::same_as<void>;
};

namespace patterns {

inline constexpr Rank client_rank = 0;
inline constexpr Rank server_rank = 1;
inline constexpr std::size_t no_bytes = 0;

}  // namespace patterns
}  // namespace chiplog
