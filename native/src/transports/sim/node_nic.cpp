#include "transports/sim/node_nic.hpp"

#include <algorithm>

namespace chiplog::sim {
namespace {

constexpr double picoseconds_a_second = 1e12;

double bytes_of(const NodeNic::Transfer& transfer) { return static_cast<double>(transfer.message->bytes); }

}  // namespace

void NodeNic::add(Rank process, const Transfer& transfer) {
  Lane& lane = lanes_[static_cast<std::size_t>(process)];
  transfer.message->under_way = true;
  lane.waiting.push_back(transfer);
  // Nothing begins before the last event, because what came before it is decided.
  lane.waiting.back().earliest = std::max(transfer.earliest, now_);
  if (lane.waiting.size() == 1) lane.bytes_left = bytes_of(transfer);
}

Picoseconds NodeNic::begin_of(const Lane& lane) { return std::max(lane.waiting.front().earliest, lane.free_at); }

double NodeNic::rate(const Transfer& transfer, double senders) const {
  return std::min(R_N_, transfer.R_Cb + (senders - 1.0) * transfer.R_Ci) / senders;
}

double NodeNic::senders() const {
  return static_cast<double>(
      std::count_if(lanes_.begin(), lanes_.end(), [this](const Lane& lane) { return sends(lane); }));
}

Picoseconds NodeNic::end_of(const Lane& lane, double senders) const {
  const double seconds = std::max(lane.bytes_left, 0.0) / rate(lane.waiting.front(), senders);
  return now_ + to_picoseconds(seconds * 1e9);
}

Picoseconds NodeNic::next_event() const {
  const double k = senders();
  Picoseconds next = never;
  for (const Lane& lane : lanes_) {
    if (lane.waiting.empty()) continue;
    next = std::min(next, sends(lane) ? end_of(lane, k) : begin_of(lane));
  }
  return next;
}

void NodeNic::advance() {
  const double k = senders();
  const Picoseconds next = next_event();
  const double passed_seconds = static_cast<double>(next - now_) / picoseconds_a_second;
  std::vector<Lane*> done;
  for (Lane& lane : lanes_) {
    if (!sends(lane)) continue;
    if (end_of(lane, k) <= next) done.push_back(&lane);
    lane.bytes_left -= rate(lane.waiting.front(), k) * passed_seconds;
  }
  now_ = next;
  for (Lane* lane : done) finish(*lane);
}

void NodeNic::finish(Lane& lane) {
  const Transfer ended = lane.waiting.front();
  const Picoseconds next_allowed = begin_of(lane) + ended.gap;
  lane.waiting.pop_front();
  lane.free_at = std::max(now_, next_allowed);
  if (!lane.waiting.empty()) lane.bytes_left = bytes_of(lane.waiting.front());
  ended.message->drained = now_;
  ended.message->under_way = false;
}

bool NodeNic::is_empty() const {
  return std::all_of(lanes_.begin(), lanes_.end(), [](const Lane& lane) { return lane.waiting.empty(); });
}

Picoseconds NodeNic::free_at() const {
  Picoseconds last = 0;
  for (const Lane& lane : lanes_) last = std::max(last, lane.free_at);
  return last;
}

}  // namespace chiplog::sim
