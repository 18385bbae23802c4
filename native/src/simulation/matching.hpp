// Which message meets which receive: by source and tag, first come, first served. Every step takes constant time.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "simulation/huge_pages.hpp"
#include "simulation/lists.hpp"
#include "simulation/schedule.hpp"
#include "simulation/waiting_lists.hpp"

namespace chiplog::simulation {

// For schedules whose receives all name source and tag.
class ExactMatching {
 public:
  // No message that has arrived and no receive that is posted may be in another list of `states`.
  ExactMatching(const Schedule& schedule, OperationStates& states);

  // `operation`, a message (its send) that has arrived at `rank` or a receive posted there, meets the longest-waiting
  // counterpart, which is returned; otherwise it waits itself, and kNone is returned.
  std::uint32_t meet(std::uint32_t rank, std::uint32_t source, std::uint32_t tag, std::uint32_t operation);
  // Messages that nobody has received, and receives that wait.
  [[nodiscard]] std::vector<std::uint32_t> waiting();
  [[nodiscard]] const WaitingLists& lists() const { return lists_; }

 private:
  std::span<const Operation> operations_;
  OperationStates& states_;
  WaitingLists lists_;  // each of all sends, or all receives
};

// For schedules with wildcards. A message waits under each of the keys that a receive of the schedule may ask with.
class WildcardMatching {
 public:
  WildcardMatching(const Schedule& schedule, OperationStates& states);

  // As of ExactMatching; source and tag of a receive may be kAny.
  std::uint32_t meet(std::uint32_t rank, std::uint32_t source, std::uint32_t tag, std::uint32_t operation);
  [[nodiscard]] std::vector<std::uint32_t> waiting();
  [[nodiscard]] const WaitingLists& lists() const { return lists_; }

 private:
  // Which of source and tag a key leaves open: bit 0 the source, bit 1 the tag.
  using Shape = std::size_t;
  static constexpr std::size_t kShapes = 4;

  [[nodiscard]] static Shape shape_of(std::uint32_t source, std::uint32_t tag) {
    return (source == kAny ? 1U : 0U) | (tag == kAny ? 2U : 0U);
  }
  [[nodiscard]] WaitingLists::Slot& slot_of(Shape shape, std::uint32_t rank, std::uint32_t source,
                                            std::uint32_t tag) const {
    return lists_.find(rank, (shape & 1U) != 0 ? kAny : source, (shape & 2U) != 0 ? kAny : tag);
  }
  [[nodiscard]] bool is_send(std::uint32_t operation) const { return operations_[operation].kind == Kind::send; }
  std::uint32_t meet_receive(std::uint32_t rank, std::uint32_t source, std::uint32_t tag, std::uint32_t message);
  std::uint32_t meet_message(std::uint32_t rank, std::uint32_t source, std::uint32_t tag, std::uint32_t receive);
  void wait(Shape shape, std::uint32_t rank, std::uint32_t source, std::uint32_t tag, std::uint32_t operation);

  std::span<const Operation> operations_;
  std::vector<Shape> shapes_;           // those that receives of the schedule have
  std::array<Links, kShapes> links_;    // a message waits in one list of each of `shapes_`
  WaitingLists lists_;                  // each of all receives, or all sends, some of which are taken already
  std::vector<bool> taken_;             // by send: its message has been received
  LargeVector<std::uint32_t> posting_;  // by receive: how many were posted before it
  std::uint32_t posted_ = 0;
};

}  // namespace chiplog::simulation
