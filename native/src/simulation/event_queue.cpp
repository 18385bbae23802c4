#include "simulation/event_queue.hpp"

#include <algorithm>
#include <bit>

namespace chiplog::simulation {
namespace {

// As objects, so that sorting inlines them.
constexpr auto earlier = [](const Event& a, const Event& b) { return a.order < b.order; };
constexpr auto later = [](const Event& a, const Event& b) { return a.order > b.order; };

}  // namespace

std::size_t EventQueue::bucket_of(Picoseconds time) const {
  return 63U - static_cast<std::size_t>(std::countl_zero(static_cast<std::uint64_t>(time ^ now_)));
}

void EventQueue::push(const Event& event) {
  if (event.time != now_) {
    const std::size_t bucket = bucket_of(event.time);
    buckets_[bucket].push_back(event);
    occupied_ |= std::uint64_t{1} << bucket;
  } else if (now_events_.empty() || now_events_.back().order < event.order) {
    now_events_.push_back(event);
  } else {
    late_.push_back(event);
    std::push_heap(late_.begin(), late_.end(), later);
  }
}

Event EventQueue::pop() {
  if (next_ == now_events_.size()) {
    if (!late_.empty()) return pop_late();
    advance();
  }
  if (!late_.empty() && earlier(late_.front(), now_events_[next_])) return pop_late();
  return now_events_[next_++];
}

Event EventQueue::pop_late() {
  std::pop_heap(late_.begin(), late_.end(), later);
  const Event event = late_.back();
  late_.pop_back();
  return event;
}

// Moves on to the earliest time there is, and spreads the lowest bucket over those below it.
void EventQueue::advance() {
  const auto lowest = static_cast<std::size_t>(std::countr_zero(occupied_));
  moving_.swap(buckets_[lowest]);
  occupied_ &= occupied_ - 1;
  now_ = std::min_element(moving_.begin(), moving_.end(), [](const Event& a, const Event& b) {
           return a.time < b.time;
         })->time;
  now_events_.clear();
  next_ = 0;
  for (const Event& event : moving_) {
    if (event.time == now_) {
      now_events_.push_back(event);
    } else {
      const std::size_t bucket = bucket_of(event.time);
      buckets_[bucket].push_back(event);
      occupied_ |= std::uint64_t{1} << bucket;
    }
  }
  moving_.clear();
  if (!std::is_sorted(now_events_.begin(), now_events_.end(), earlier))
    std::sort(now_events_.begin(), now_events_.end(), earlier);
}

}  // namespace chiplog::simulation
