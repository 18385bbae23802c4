// The pending events, earliest first. It is a radix heap, which is possible because simulated time never runs
// backwards.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "simulation/huge_pages.hpp"
#include "simulation/schedule.hpp"
#include "simulation/time.hpp"

namespace chiplog::simulation {

enum class Action : std::uint8_t {
  calc,          // the first calc in line tries its CPU
  send,          // the first send in line tries CPU and NIC
  post,          // a receive is posted
  arrive,        // a message's first byte is at the receiver
  take,          // the first message in line tries the receiver's CPU and NIC
  become_ready,  // an operation of a rank with several CPUs joins its line
};

// An event takes 16 bytes, since nothing is moved more often.
class Event {
 public:
  Event() = default;
  // Among events of the same time, the lowest order comes first: less than 2^31, as all of a schedule's are.
  Event(Picoseconds time, std::uint32_t order, std::uint32_t operation, Action action)
      : time_(time),
        packed_(std::uint64_t{order} << order_shift | std::uint64_t{operation} << action_bits |
                static_cast<std::uint64_t>(action)) {}

  [[nodiscard]] Picoseconds time() const { return time_; }
  [[nodiscard]] std::uint32_t order() const { return static_cast<std::uint32_t>(packed_ >> order_shift); }
  [[nodiscard]] std::uint32_t operation() const { return (packed_ >> action_bits) & (most_operations - 1); }
  [[nodiscard]] Action action() const { return static_cast<Action>(packed_ & ((1U << action_bits) - 1)); }
  // The other event must have the same time.
  [[nodiscard]] bool before(const Event& other) const { return packed_ < other.packed_; }

 private:
  static constexpr unsigned action_bits = 3;
  static constexpr unsigned order_shift = action_bits + std::bit_width(most_operations - 1);

  Picoseconds time_ = 0;
  std::uint64_t packed_ = 0;
};
static_assert(sizeof(Event) == 16);

// Pops in order of (time, order). An event moves to a lower bucket at most once per bit of its distance in time, which
// costs less than the levels of a binary heap do, and most simulated times are few and shared by many events.
class EventQueue {
 public:
  [[nodiscard]] bool empty() const { return next_ == now_events_.size() && late_.empty() && occupied_ == 0; }
  // The time must not be before that of the last event popped.
  void push(const Event& event) {
    if (event.time() != now_) {
      put_into_bucket(event);
    } else if (now_events_.empty() || now_events_.back().before(event)) {
      now_events_.push_back(event);
    } else {
      push_late(event);
    }
  }
  // The queue must not be empty.
  Event pop();
  // An event of the same time about that many places after the next one; nullptr if there is none.
  [[nodiscard]] const Event* ahead(std::size_t places) const {
    return next_ + places < now_events_.size() ? &now_events_[next_ + places] : nullptr;
  }

 private:
  struct Bucket {
    LargeVector<Event> events;
    Picoseconds earliest = std::numeric_limits<Picoseconds>::max();
    Picoseconds latest = 0;
  };

  void advance();
  void sort_now_events();
  Event pop_late();
  void push_late(const Event& event);
  void put_into_bucket(const Event& event) {
    const auto differing = static_cast<std::uint64_t>(event.time() ^ now_);
    const std::size_t place = 63U - static_cast<std::size_t>(std::countl_zero(differing));
    Bucket& bucket = buckets_[place];
    bucket.earliest = std::min(bucket.earliest, event.time());
    bucket.latest = std::max(bucket.latest, event.time());
    bucket.events.push_back(event);
    occupied_ |= std::uint64_t{1} << place;
  }

  Picoseconds now_ = 0;
  LargeVector<Event> now_events_;  // of time now_, by order; popped up to next_
  std::size_t next_ = 0;
  LargeVector<Event> late_;         // of time now_, pushed out of order: a heap
  std::array<Bucket, 64> buckets_;  // by the highest bit in which time and now_ differ
  std::uint64_t occupied_ = 0;      // bit b: buckets_[b] holds events
  LargeVector<Event> sorting_;      // for sort_now_events(); otherwise empty
};

}  // namespace chiplog::simulation
