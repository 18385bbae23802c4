#include "simulation/costs.hpp"

#include <algorithm>
#include <iterator>
#include <limits>
#include <stdexcept>
#include <utility>

namespace chiplog::simulation {
namespace {

__extension__ using Wide = unsigned __int128;

constexpr std::int64_t attoseconds_per_picosecond = 1'000'000;

}  // namespace

Picoseconds bytes_after_first(std::uint64_t bytes, std::int64_t attoseconds_per_byte) {
  const std::uint64_t further = std::max<std::uint64_t>(bytes, 1) - 1;
  const Wide product = Wide{further} * static_cast<std::uint64_t>(attoseconds_per_byte);
  const Wide time = (product + attoseconds_per_picosecond / 2) / attoseconds_per_picosecond;
  if (time > static_cast<Wide>(std::numeric_limits<Picoseconds>::max())) throw TimeOverflow();
  return static_cast<Picoseconds>(time);
}

Picoseconds free_gaps(const Parameters& parameters) {
  const Protocols& protocols =
      parameters.pairs.classes.empty() ? parameters.protocols : parameters.pairs.classes.front();
  if (parameters.free_messages == 0 || protocols.empty())
    throw std::invalid_argument("f must be 1 or more, and there must be a protocol");
  Picoseconds gaps = 0;
  if (__builtin_mul_overflow(parameters.free_messages - 1, protocols.front().nic.start, &gaps)) throw TimeOverflow();
  return gaps;
}

Costs::Costs(Protocols protocols) : protocols_(std::move(protocols)) {
  if (protocols_.empty() || protocols_.front().first_bytes != 0)
    throw std::invalid_argument("the first protocol must begin at 0 bytes");
  const auto not_above = [](const Protocol& a, const Protocol& b) { return a.first_bytes >= b.first_bytes; };
  if (std::adjacent_find(protocols_.begin(), protocols_.end(), not_above) != protocols_.end())
    throw std::invalid_argument("the protocols must ascend in size");
  for (const Protocol& one : protocols_)
    for (const Line& line : {one.send, one.nic, one.receive, one.one_way})
      if (line.start < 0 || line.attoseconds_per_byte < 0)
        throw std::invalid_argument("times, and times per byte, must not be negative");
  recent_.fill(compute(0));
}

const Protocol& Costs::protocol_of(std::uint64_t bytes) const {
  const auto begins_above = [](std::uint64_t size, const Protocol& one) { return size < one.first_bytes; };
  return *std::prev(std::upper_bound(protocols_.begin(), protocols_.end(), bytes, begins_above));
}

MessageCost Costs::compute(std::uint64_t bytes) const {
  const Protocol& one = protocol_of(bytes);
  const auto at = [bytes](const Line& line) {
    return add(line.start, bytes_after_first(bytes, line.attoseconds_per_byte));
  };
  const Picoseconds send = at(one.send);
  const Picoseconds nic = at(one.nic);
  const Picoseconds one_way = at(one.one_way);
  const Picoseconds most = one.receiver_keeps_up ? std::min(one_way, std::max(send, nic)) : one_way;
  const Picoseconds receive = std::min(at(one.receive), most);
  const Picoseconds wire = nic - one.nic.start;
  const Picoseconds arrival = one_way - receive;
  return {bytes, send, receive, nic, wire, arrival, one.arrives_whole ? std::min(wire, arrival) : 0};
}

PairCosts::PairCosts(const Parameters& parameters, std::uint32_t ranks)
    : group_of_rank_(parameters.pairs.group_of_rank), class_of_groups_(parameters.pairs.class_of_groups) {
  const std::vector<Protocols>& classes = parameters.pairs.classes;
  if (classes.empty()) {
    costs_.emplace_back(parameters.protocols);
    for (const Protocols& one : parameters.protocols_of_traffic) costs_.emplace_back(one);
    return;
  }
  for (const Protocols& one : classes) costs_.emplace_back(one);
  if (group_of_rank_.size() != ranks) throw std::invalid_argument("each rank needs a group");
  groups_ = std::size_t{*std::max_element(group_of_rank_.begin(), group_of_rank_.end())} + 1;
  if (class_of_groups_.size() != groups_ * groups_) throw std::invalid_argument("each two groups need a class");
  const auto unknown = [&](std::uint16_t one) { return one >= classes.size(); };
  if (std::any_of(class_of_groups_.begin(), class_of_groups_.end(), unknown))
    throw std::invalid_argument("a class of two groups is not there");
}

}  // namespace chiplog::simulation
