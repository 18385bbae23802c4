#include "simulation/event_queue.hpp"

#include <algorithm>
#include <bit>
#include <numeric>

namespace chiplog::simulation {
namespace {

constexpr std::size_t many = 2048;
constexpr unsigned digit_bits = 11;

// These are function objects, so that sorting inlines them.
constexpr auto earlier = [](const Event& a, const Event& b) { return a.before(b); };
constexpr auto later = [](const Event& a, const Event& b) { return b.before(a); };

}  // namespace

Event EventQueue::pop() {
  if (next_ == now_events_.size()) {
    if (!late_.empty()) return pop_late();
    advance();
  }
  if (!late_.empty() && earlier(late_.front(), now_events_[next_])) return pop_late();
  return now_events_[next_++];
}

void EventQueue::push_late(const Event& event) {
  late_.push_back(event);
  std::push_heap(late_.begin(), late_.end(), later);
}

Event EventQueue::pop_late() {
  std::pop_heap(late_.begin(), late_.end(), later);
  const Event event = late_.back();
  late_.pop_back();
  return event;
}

// Advances to the earliest time. The lowest bucket that is not empty holds it; its events are distributed over the
// buckets below. Often all of them have that time.
void EventQueue::advance() {
  Bucket& lowest = buckets_[static_cast<std::size_t>(std::countr_zero(occupied_))];
  occupied_ &= occupied_ - 1;
  now_ = lowest.earliest;
  now_events_.clear();
  next_ = 0;
  if (lowest.earliest == lowest.latest) {
    now_events_.swap(lowest.events);
  } else {
    for (const Event& event : lowest.events) {
      if (event.time() == now_) {
        now_events_.push_back(event);
      } else {
        put_into_bucket(event);
      }
    }
    lowest.events.clear();
  }
  lowest.earliest = std::numeric_limits<Picoseconds>::max();
  lowest.latest = 0;
  if (!std::is_sorted(now_events_.begin(), now_events_.end(), earlier)) sort_now_events();
}

// Sorts long lists digit by digit, which is cheaper than comparing.
void EventQueue::sort_now_events() {
  if (now_events_.size() < many) return std::sort(now_events_.begin(), now_events_.end(), earlier);
  const auto [first, last] = std::minmax_element(now_events_.begin(), now_events_.end(), earlier);
  const std::uint32_t least = first->order();
  const auto bits = static_cast<unsigned>(std::bit_width(last->order() - least));
  sorting_.resize(now_events_.size());
  for (unsigned shift = 0; shift < bits; shift += digit_bits) {
    const auto digit = [=](const Event& event) {
      return (event.order() - least) >> shift & ((std::size_t{1} << digit_bits) - 1);
    };
    std::array<std::size_t, (std::size_t{1} << digit_bits) + 1> begins{};
    for (const Event& event : now_events_) ++begins[digit(event) + 1];
    std::partial_sum(begins.begin(), begins.end(), begins.begin());
    for (const Event& event : now_events_) sorting_[begins[digit(event)]++] = event;
    now_events_.swap(sorting_);
  }
  sorting_.clear();
}

}  // namespace chiplog::simulation
