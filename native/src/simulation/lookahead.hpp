// Asks for memory that the next events will read.
//
// Schedules of many ranks don't fit into a cache, but many events share their time, so that it is known what comes:
// first their operations, then those operations' ranks and who is behind them in line, then what waits for them.
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

// How many events ahead.
inline constexpr std::size_t kFarAhead = 48;
inline constexpr std::size_t kAhead = 32;
inline constexpr std::size_t kNearAhead = 16;

template <class Matching>
class Lookahead {
 public:
  // All must outlive it.
  Lookahead(std::span<const Operation> operations, const EventQueue& queue, OperationStates& states,
            const Resources& resources, const Matching& matching)
      : operations_(operations), queue_(queue), states_(states), resources_(resources), matching_(matching) {}

  // Before each event. A receive that is posted has no line, and mostly finds nobody who waits.
  void prefetch() const {
    const Event* const far = queue_.ahead(kFarAhead);
    if (far == nullptr) return;
    simulation::prefetch(&operations_[far->operation()]);
    if (far->what() != What::post) states_.prefetch(far->operation());
    const Event& ahead = *queue_.ahead(kAhead);
    const Operation& next = operations_[ahead.operation()];
    const std::uint32_t rank = happens_at_peer(ahead) ? next.peer : next.rank;
    resources_.prefetch(rank);
    matching_.lists().prefetch_table(rank);
    if (ahead.what() != What::post) prefetch_operation(states_.next(ahead.operation()));
    const Event& near = *queue_.ahead(kNearAhead);
    const Operation& one = operations_[near.operation()];
    if (near.what() == What::post) {
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
    return event.what() == What::arrive || event.what() == What::take;
  }

  std::span<const Operation> operations_;
  const EventQueue& queue_;
  OperationStates& states_;
  const Resources& resources_;
  const Matching& matching_;
};

}  // namespace chiplog::simulation
