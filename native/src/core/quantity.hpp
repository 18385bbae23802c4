// Quantities with units as users write them: 5us, 0.5ns, 8KiB, 1.5MiB, 10GB/s.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace chiplog {

// Each throws UsageError that names `what` (an option or a field) and says what it accepts.

// A duration >= 0 in nanoseconds; units ns, us, ms, s. A bare number is accepted only if it is 0.
double parse_duration_ns(std::string_view text, const std::string& what);

// A size in bytes; units B, kB, KiB, MB, MiB, GB, GiB; a bare number is bytes. Must be a whole number of bytes.
std::uint64_t parse_bytes(std::string_view text, const std::string& what);

// A rate >= 0 in bytes per second; the units of a size, each with /s behind it.
double parse_bytes_per_second(std::string_view text, const std::string& what);

// A finite number without unit.
double parse_number(std::string_view text, const std::string& what);

// A whole number within [low, high].
std::int64_t parse_integer(std::string_view text, const std::string& what, std::int64_t low, std::int64_t high);

}  // namespace chiplog
