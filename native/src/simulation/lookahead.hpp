// Prefetches the memory that the next events will read.
//
// Schedules of many ranks don't fit into a cache, but many events share their time, so the next events are known. Their
// operations are fetched first, then the operations' ranks and their successors in line, then their dependents.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "simulation/event_queue.hpp"
#include "simulation/lists.hpp"
#include "simulation/prefetch.hpp"
#include "simulation/resources.hpp"
#include "simulation/schedule.hpp"

namespace chiplog::simulation {

// The number of events to look ahead.
inline constexpr std::size_t far_ahead = 48;
inline constexpr std::size_t events_ahead = 32;
inline constexpr std::size_t near_ahead = 16;

template <class Matching>
class Lookahead {
 public:
  // All arguments must outlive the object.
  Lookahead(std::span<const Operation> operations, const EventQueue& queue, OperationStates& states,
            const Resources& resources, const Matching& matching)
      : operations_(operations), queue_(queue), states_(states), resources_(resources), matching_(matching) {}

  // Call it before each event. A posted receive has no line, and rarely finds a message that waits.
  void prefetch() const {
    const Event* const far = queue_.ahead(far_ahead);
    if (far == nullptr) return;
    simulation::prefetch(&operations_[far->operation()]);
    if (far->action() != Action::post) states_.prefetch(far->operation());
    const Event& ahead = *queue_.ahead(events_ahead);
    const Operation& next = operations_[ahead.operation()];
    const std::uint32_t rank = happens_at_peer(ahead) ? next.peer : next.rank;
    resources_.prefetch(rank);
    matching_.lists().prefetch_table(rank);
    if (ahead.action() != Action::post) prefetch_operation(states_.next(ahead.operation()));
    const Event& near = *queue_.ahead(near_ahead);
    const Operation& one = operations_[near.operation()];
    if (near.action() == Action::post) {
      matching_.lists().prefetch_slot(one.rank, one.peer, one.tag);
    } else if (happens_at_peer(near)) {
      matching_.lists().prefetch_slot(one.peer, one.rank, one.tag);
    }
  }

  void prefetch_operation(std::uint32_t operation) const {
    simulation::prefetch(&operations_[operation]);
    states_.prefetch(operation);
  }

 private:
  [[nodiscard]] static bool happens_at_peer(const Event& event) {
    return event.action() == Action::arrive || event.action() == Action::take;
  }

  std::span<const Operation> operations_;
  const EventQueue& queue_;
  OperationStates& states_;
  const Resources& resources_;
  const Matching& matching_;
};

}  // namespace chiplog::simulation
