// What a pattern works with, and what it gives back.
#pragma once

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

namespace patterns {

inline constexpr Rank client_rank = 0;
inline constexpr Rank server_rank = 1;
inline constexpr std::size_t no_bytes = 0;

}  // namespace patterns
}  // namespace chiplog
