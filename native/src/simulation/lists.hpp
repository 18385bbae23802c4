// Linked lists of operations. An operation is in one list at a time; its node holds the index of the next one.
#pragma once

#include <cstddef>
#include <cstdint>

#include "simulation/huge_pages.hpp"
#include "simulation/prefetch.hpp"
#include "simulation/schedule.hpp"

namespace chiplog::simulation {

// The `next` of the last element has no meaning.
struct List {
  std::uint32_t first = no_operation;
  std::uint32_t last = no_operation;
};

// A node that holds nothing but the next operation.
class Links {
 public:
  explicit Links(std::size_t operations = 0) : next_(operations) {}

  [[nodiscard]] std::uint32_t& next(std::uint32_t operation) { return next_[operation]; }

 private:
  LargeVector<std::uint32_t> next_;
};

// The simulation's state of an operation, kept together because it is read together.
class OperationStates {
 public:
  explicit OperationStates(std::size_t operations) : states_(operations) {}

  [[nodiscard]] std::uint32_t& next(std::uint32_t operation) { return states_[operation].next; }
  // Its place among the operations that wait for the same time.
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
  (list.first == no_operation ? list.first : nodes.next(list.last)) = operation;
  list.last = operation;
}

// Inserts by `order`, which is already set. The place is nearly always the end, except where an operation on several
// CPUs is released early and becomes ready late, or a message is overtaken by one of another protocol.
inline void insert_by_order(OperationStates& states, List& list, std::uint32_t operation) {
  if (list.first == no_operation || states.order(list.last) < states.order(operation))
    return append(states, list, operation);
  std::uint32_t* link = &list.first;
  while (states.order(*link) < states.order(operation)) link = &states.next(*link);
  states.next(operation) = *link;
  *link = operation;
}

// The list must not be empty.
template <class Nodes>
std::uint32_t take_first(Nodes& nodes, List& list) {
  const std::uint32_t operation = list.first;
  list.first = operation == list.last ? no_operation : nodes.next(operation);
  return operation;
}

template <class Nodes, class Visit>
void each(Nodes& nodes, const List& list, const Visit& visit) {
  if (list.first == no_operation) return;
  for (std::uint32_t one = list.first;; one = nodes.next(one)) {
    visit(one);
    if (one == list.last) return;
  }
}

}  // namespace chiplog::simulation
