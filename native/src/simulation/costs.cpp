#include "simulation/costs.hpp"

#include <algorithm>
#include <limits>
#include <stdexcept>

namespace chiplog::simulation {
namespace {

__extension__ using Wide = unsigned __int128;

constexpr std::int64_t kAttosecondsPerPicosecond = 1'000'000;

// Rounded to the nearest picosecond, halves up.
Picoseconds bytes_after_first(std::uint64_t bytes, std::int64_t attoseconds_per_byte) {
  const std::uint64_t further = std::max<std::uint64_t>(bytes, 1) - 1;
  const Wide product = Wide{further} * static_cast<std::uint64_t>(attoseconds_per_byte);
  const Wide time = (product + kAttosecondsPerPicosecond / 2) / kAttosecondsPerPicosecond;
  if (time > static_cast<Wide>(std::numeric_limits<Picoseconds>::max())) throw TimeOverflow();
  return static_cast<Picoseconds>(time);
}

}  // namespace

Costs::Costs(const Parameters& parameters)
    : parameters_(parameters), send_to_arrival_(add(parameters.o, parameters.L)) {
  if (parameters.L < 0 || parameters.o < 0 || parameters.g < 0 || parameters.G_attoseconds < 0 ||
      parameters.O_attoseconds < 0)
    throw std::invalid_argument("L, o, g, G and O must not be negative");
  recent_.fill(compute(0));
}

MessageCost Costs::compute(std::uint64_t bytes) const {
  const Picoseconds wire = bytes_after_first(bytes, parameters_.G_attoseconds);
  const Picoseconds copy = bytes_after_first(bytes, parameters_.O_attoseconds);
  return {bytes, add(parameters_.o, copy), add(parameters_.o, std::max(copy, wire)), add(parameters_.g, wire)};
}

}  // namespace chiplog::simulation
