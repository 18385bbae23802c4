#include "core/quantity.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <optional>

#include "chiplog/error.hpp"

namespace chiplog {
namespace {

struct Unit {
  std::string_view symbol;
  double factor;
};

constexpr std::array duration_units{Unit{"ns", 1.0}, Unit{"us", 1e3}, Unit{"ms", 1e6}, Unit{"s", 1e9}};
constexpr std::array size_units{Unit{"", 1.0},   Unit{"B", 1.0},         Unit{"kB", 1e3}, Unit{"KiB", 1024.0},
                                Unit{"MB", 1e6}, Unit{"MiB", 1048576.0}, Unit{"GB", 1e9}, Unit{"GiB", 1073741824.0}};

struct NumberAndUnit {
  double number;
  std::string_view unit;
};

std::optional<NumberAndUnit> split(std::string_view text) {
  double number = 0.0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || !std::isfinite(number)) return std::nullopt;
  return NumberAndUnit{number, text.substr(static_cast<std::size_t>(end - text.data()))};
}

template <std::size_t n>
std::optional<double> factor_of(std::string_view symbol, const std::array<Unit, n>& units) {
  for (const Unit& unit : units) {
    if (unit.symbol == symbol) return unit.factor;
  }
  return std::nullopt;
}

[[noreturn]] void refuse(const std::string& what, std::string_view accepts, std::string_view text) {
  throw UsageError(what + " accepts " + std::string(accepts) + ", not '" + std::string(text) + "'");
}

}  // namespace

double parse_duration_ns(std::string_view text, const std::string& what) {
  constexpr std::string_view accepts = "a duration >= 0 with its unit (ns, us, ms or s), such as 5us";
  const auto parts = split(text);
  if (!parts || parts->number < 0.0) refuse(what, accepts, text);
  if (parts->unit.empty() && parts->number == 0.0) return 0.0;
  const auto factor = factor_of(parts->unit, duration_units);
  if (!factor) refuse(what, accepts, text);
  return parts->number * *factor;
}

std::uint64_t parse_bytes(std::string_view text, const std::string& what) {
  constexpr std::string_view accepts = "a size in whole bytes (B, kB, KiB, MB, MiB, GB or GiB), such as 8KiB";
  const auto parts = split(text);
  if (!parts || parts->number < 0.0) refuse(what, accepts, text);
  const auto factor = factor_of(parts->unit, size_units);
  if (!factor) refuse(what, accepts, text);
  const double bytes = parts->number * *factor;
  if (bytes != std::floor(bytes) || bytes > 9.0e15) refuse(what, accepts, text);
  return static_cast<std::uint64_t>(bytes);
}

double parse_bytes_per_second(std::string_view text, const std::string& what) {
  constexpr std::string_view accepts = "a rate >= 0 (B/s, kB/s, KiB/s, MB/s, MiB/s, GB/s or GiB/s), such as 10GB/s";
  constexpr std::string_view per_second = "/s";
  const auto parts = split(text);
  if (!parts || parts->number < 0.0 || !parts->unit.ends_with(per_second) || parts->unit == per_second) {
    refuse(what, accepts, text);
  }
  const auto factor = factor_of(parts->unit.substr(0, parts->unit.size() - per_second.size()), size_units);
  if (!factor) refuse(what, accepts, text);
  return parts->number * *factor;
}

double parse_number(std::string_view text, const std::string& what) {
  const auto parts = split(text);
  if (!parts || !parts->unit.empty()) refuse(what, "a number", text);
  return parts->number;
}

std::int64_t parse_integer(std::string_view text, const std::string& what, std::int64_t low, std::int64_t high) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size() || number < low || number > high) {
    refuse(what, "a whole number from " + std::to_string(low) + " to " + std::to_string(high), text);
  }
  return number;
}

}  // namespace chiplog
