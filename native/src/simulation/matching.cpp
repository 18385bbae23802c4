#include "simulation/matching.hpp"

#include <algorithm>

namespace chiplog::simulation {

ExactMatching::ExactMatching(const Schedule& schedule, OperationStates& states)
    : operations_(schedule.operations), states_(states), lists_(schedule.ranks) {}

std::uint32_t ExactMatching::meet(std::uint32_t rank, std::uint32_t source, std::uint32_t tag,
                                  std::uint32_t operation) {
  WaitingLists::Slot& slot = lists_.find(rank, source, tag);
  List& list = slot.list;
  if (list.first == no_operation) {
    lists_.claim(rank, slot, {source, tag, {operation, operation}});
    return no_operation;
  }
  if (operations_[list.first].kind == operations_[operation].kind) {
    append(states_, list, operation);
    return no_operation;
  }
  const std::uint32_t counterpart = take_first(states_, list);
  if (list.first == no_operation) lists_.release(rank, slot);
  return counterpart;
}

std::vector<std::uint32_t> ExactMatching::waiting() {
  std::vector<std::uint32_t> found;
  lists_.each([&](const WaitingLists::Slot& slot) {
    each(states_, slot.list, [&](std::uint32_t one) { found.push_back(one); });
  });
  return found;
}

WildcardMatching::WildcardMatching(const Schedule& schedule, OperationStates& /*states*/)
    : operations_(schedule.operations),
      lists_(schedule.ranks),
      taken_(schedule.operations.size()),
      posting_(schedule.operations.size()) {
  std::array<bool, shapes> used{};
  for (const Operation& one : operations_)
    if (one.kind == Kind::receive) used[shape_of(one.peer, one.tag)] = true;
  for (Shape shape = 0; shape < shapes; ++shape) {
    if (!used[shape]) continue;
    shapes_.push_back(shape);
    links_[shape] = Links(operations_.size());
  }
}

std::uint32_t WildcardMatching::meet(std::uint32_t rank, std::uint32_t source, std::uint32_t tag,
                                     std::uint32_t operation) {
  return is_send(operation) ? meet_receive(rank, source, tag, operation) : meet_message(rank, source, tag, operation);
}

std::uint32_t WildcardMatching::meet_receive(std::uint32_t rank, std::uint32_t source, std::uint32_t tag,
                                             std::uint32_t message) {
  std::uint32_t longest = no_operation;
  Shape asked = 0;
  for (const Shape shape : shapes_) {
    const std::uint32_t first = slot_of(shape, rank, source, tag).list.first;
    if (first == no_operation || is_send(first)) continue;
    if (longest != no_operation && posting_[longest] < posting_[first]) continue;
    longest = first;
    asked = shape;
  }
  if (longest == no_operation) {
    for (const Shape shape : shapes_) wait(shape, rank, source, tag, message);
    return no_operation;
  }
  WaitingLists::Slot& slot = slot_of(asked, rank, source, tag);
  List& list = slot.list;
  take_first(links_[asked], list);
  if (list.first == no_operation) lists_.release(rank, slot);
  return longest;
}

std::uint32_t WildcardMatching::meet_message(std::uint32_t rank, std::uint32_t source, std::uint32_t tag,
                                             std::uint32_t receive) {
  const Shape shape = shape_of(source, tag);
  WaitingLists::Slot& slot = lists_.find(rank, source, tag);
  List& list = slot.list;
  if (list.first != no_operation && is_send(list.first)) {
    std::uint32_t message = take_first(links_[shape], list);
    while (taken_[message] && list.first != no_operation) message = take_first(links_[shape], list);
    if (list.first == no_operation) lists_.release(rank, slot);
    if (!taken_[message]) {
      taken_[message] = true;
      return message;
    }
  }
  posting_[receive] = posted_++;
  wait(shape, rank, source, tag, receive);
  return no_operation;
}

void WildcardMatching::wait(Shape shape, std::uint32_t rank, std::uint32_t source, std::uint32_t tag,
                            std::uint32_t operation) {
  WaitingLists::Slot& slot = slot_of(shape, rank, source, tag);
  List& list = slot.list;
  if (list.first != no_operation) return append(links_[shape], list, operation);
  lists_.claim(rank, slot,
               {(shape & 1U) != 0 ? wildcard : source, (shape & 2U) != 0 ? wildcard : tag, {operation, operation}});
}

std::vector<std::uint32_t> WildcardMatching::waiting() {
  std::vector<std::uint32_t> found;
  lists_.each([&](const WaitingLists::Slot& slot) {
    const Shape shape = shape_of(slot.source, slot.tag);
    each(links_[shape], slot.list, [&](std::uint32_t one) {
      if (!is_send(one) || (shape == shapes_.front() && !taken_[one])) found.push_back(one);
    });
  });
  return found;
}

}  // namespace chiplog::simulation
