// The properties of a clock that show in successive reads.
#pragma once

#include <cstdint>
#include <span>

namespace chiplog {

// The real step of a clock, in its ticks, from reads taken as fast as possible: the smallest advance if nearly all
// advances are multiples of it, otherwise their greatest common divisor. 0 if the reads never advance.
[[nodiscard]] std::uint64_t clock_step(std::span<const std::uint64_t> reads);

// The median advance from one read to the next, in ticks.
[[nodiscard]] double median_advance(std::span<const std::uint64_t> reads);

}  // namespace chiplog
