// Lists of operations: an operation is in one list at a time, and its node holds the one behind it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "simulation/huge_pages.hpp"
#include "simulation/prefetch.hpp"
#include "simulation/schedule.hpp"

namespace chiplog::simulation {

// What stands behind the last one is without meaning.
struct List {
  std::uint32_t first = kNone;
  std::uint32_t last = kNone;
};

// Where nothing but the next operation is remembered.
class Links {
 public:
  explicit Links(std::size_t operations = 0) : next_(operations) {}

  [[nodiscard]] std::uint32_t& next(std::uint32_t operation) { return next_[operation]; }

 private:
  LargeVector<std::uint32_t> next_;
};

// What the simulation remembers of each operation, side by side since it is read together.
class OperationStates {
 public:
  explicit OperationStates(std::size_t operations) : states_(operations) {}

  [[nodiscard]] std::uint32_t& next(std::uint32_t operation) { return states_[operation].next; }
  // Its place among those that wait for the same time.
  [[nodiscard]] std::uint32_t& order(std::uint32_t operation) { return states_[operation].order; }
  // Requirements that are not met yet.
  [[nodiscard]] std::uint32_t& open(std::uint32_t operation) { return states_[operation].open; }
  void prefetch(std::uint32_t operation) const { simulation::prefetch(&states_[operation]); }

 private:
  struct State {
    std::uint32_t order = 0;
    std::uint32_t next = 0;
    std::uint32_t open = 0;
  };

  LargeVector<State> states_;
};

// In the following, `nodes` are Links or OperationStates.

template <class Nodes>
void append(Nodes& nodes, List& list, std::uint32_t operation) {
  (list.first == kNone ? list.first : nodes.next(list.last)) = operation;
  list.last = operation;
}

// By their orders, which the operations have already. It is the last one but where an operation on several CPUs is
// released early and becomes ready late, or a message is overtaken by one of another protocol.
inline void insert_by_order(OperationStates& states, List& list, std::uint32_t operation) {
  if (list.first == kNone || states.order(list.last) < states.order(operation)) return append(states, list, operation);
  std::uint32_t* link = &list.first;
  while (states.order(*link) < states.order(operation)) link = &states.next(*link);
  states.next(operation) = *link;
  *link = operation;
}

// Must not be empty.
template <class Nodes>
std::uint32_t take_first(Nodes& nodes, List& list) {
  const std::uint32_t operation = list.first;
  list.first = operation == list.last ? kNone : nodes.next(operation);
  return operation;
}

template <class Nodes, class Visit>
void each(Nodes& nodes, const List& list, const Visit& visit) {
  if (list.first == kNone) return;
  for (std::uint32_t one = list.first;; one = nodes.next(one)) {
    visit(one);
    if (one == list.last) return;
  }
}

}  // namespace chiplog::simulation
