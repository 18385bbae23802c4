// Matches messages with receives by source and tag, in the order of arrival. Every step takes constant time.
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
  // Arrived messages and posted receives must not be in another list of `states`.
  ExactMatching(const Schedule& schedule, OperationStates& states);

  // `operation` is a message (its send) that has arrived at `rank`, or a receive posted there. Returns the counterpart
  // that has waited longest; if there is none, `operation` waits and no_operation is returned.
  std::uint32_t meet(std::uint32_t rank, std::uint32_t source, std::uint32_t tag, std::uint32_t operation);
  // The numbers of messages without a receive and of receives without a message.
  [[nodiscard]] std::vector<std::uint32_t> waiting();
  [[nodiscard]] const WaitingLists& lists() const { return lists_; }

 private:
  std::span<const Operation> operations_;
  OperationStates& states_;
  WaitingLists lists_;  // each of all sends, or all receives
};

// For schedules with wildcards. A message waits under every key that a receive of the schedule may use.
class WildcardMatching {
 public:
  WildcardMatching(const Schedule& schedule, OperationStates& states);

  // As in ExactMatching, but source and tag of a receive may be `wildcard`.
  std::uint32_t meet(std::uint32_t rank, std::uint32_t source, std::uint32_t tag, std::uint32_t operation);
  [[nodiscard]] std::vector<std::uint32_t> waiting();
  [[nodiscard]] const WaitingLists& lists() const { return lists_; }

 private:
  // The wildcards of a key: bit 0 stands for any source, bit 1 for any tag.
  using Shape = std::size_t;
  static constexpr std::size_t shapes = 4;

  [[nodiscard]] static Shape shape_of(std::uint32_t source, std::uint32_t tag) {
    return (source == wildcard ? 1U : 0U) | (tag == wildcard ? 2U : 0U);
  }
  [[nodiscard]] WaitingLists::Slot& slot_of(Shape shape, std::uint32_t rank, std::uint32_t source,
                                            std::uint32_t tag) const {
    return lists_.find(rank, (shape & 1U) != 0 ? wildcard : source, (shape & 2U) != 0 ? wildcard : tag);
  }
  [[nodiscard]] bool is_send(std::uint32_t operation) const { return operations_[operation].kind == Kind::send; }
  std::uint32_t meet_receive(std::uint32_t rank, std::uint32_t source, std::uint32_t tag, std::uint32_t message);
  std::uint32_t meet_message(std::uint32_t rank, std::uint32_t source, std::uint32_t tag, std::uint32_t receive);
  void wait(Shape shape, std::uint32_t rank, std::uint32_t source, std::uint32_t tag, std::uint32_t operation);

  std::span<const Operation> operations_;
  std::vector<Shape> shapes_;           // those that receives of the schedule have
  std::array<Links, shapes> links_;     // a message waits in one list of each of `shapes_`
  WaitingLists lists_;                  // each of all receives, or all sends, some of which are taken already
  std::vector<bool> taken_;             // by send: its message has been received
  LargeVector<std::uint32_t> posting_;  // by receive: how many were posted before it
  std::uint32_t posted_ = 0;
};

}  // namespace chiplog::simulation
