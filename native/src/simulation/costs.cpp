#include "simulation/costs.hpp"

#include <algorithm>
#include <iterator>
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

Costs::Costs(const Parameters& parameters) : parameters_(parameters) {
  const std::vector<Protocol>& protocols = parameters_.protocols;
  if (protocols.empty() || protocols.front().first_bytes != 0)
    throw std::invalid_argument("the first protocol must begin at 0 bytes");
  const auto not_above = [](const Protocol& a, const Protocol& b) { return a.first_bytes >= b.first_bytes; };
  if (std::adjacent_find(protocols.begin(), protocols.end(), not_above) != protocols.end())
    throw std::invalid_argument("the protocols must ascend in size");
  for (const Protocol& one : protocols)
    if (one.L < 0 || one.o < 0 || one.g < 0 || one.G_attoseconds < 0 || one.O_attoseconds < 0)
      throw std::invalid_argument("L, o, g, G and O must not be negative");
  recent_.fill(compute(0));
}

MessageCost Costs::compute(std::uint64_t bytes) const {
  const auto begins_above = [](std::uint64_t size, const Protocol& one) { return size < one.first_bytes; };
  const std::vector<Protocol>& protocols = parameters_.protocols;
  const Protocol& one = *std::prev(std::upper_bound(protocols.begin(), protocols.end(), bytes, begins_above));
  const Picoseconds wire = bytes_after_first(bytes, one.G_attoseconds);
  const Picoseconds copy = bytes_after_first(bytes, one.O_attoseconds);
  return {bytes, add(one.o, copy), add(one.o, std::max(copy, wire)), add(one.g, wire), add(one.o, one.L)};
}

}  // namespace chiplog::simulation
