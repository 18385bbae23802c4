// Clocks that patterns read. Nothing but `now()` is called at either end of a timed interval.
#pragma once

#include <concepts>
#include <cstdint>
#include <string_view>

namespace chiplog {

// Raw ticks of a clock. Only differences have a meaning, and only `interval_ns` converts them.
using Ticks = std::uint64_t;

// `interval_ns` and what it may add (the noise of a virtual clock) happen outside the timed interval. A busy wait
// returns the time that passed between its first and its last reading of the clock, which is at least what was asked
// for.
template <class C>
concept Clock = requires(C clock, Ticks ticks, double nanoseconds) {
  typename C::Abilities;  // see abilities.hpp
  { clock.now() } -> std::same_as<Ticks>;
  { clock.interval_ns(ticks, ticks) } -> std::convertible_to<double>;
  { clock.resolution_ns() } -> std::convertible_to<double>;  // the real step, not the unit
  { clock.overhead_ns() } -> std::convertible_to<double>;    // of one pair of reads with nothing between
  { clock.busy_wait(nanoseconds) } -> std::same_as<Ticks>;   // computation: the CPU is busy, the network goes on
  { clock.name() } -> std::convertible_to<std::string_view>;
};

}  // namespace chiplog
