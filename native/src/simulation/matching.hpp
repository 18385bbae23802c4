// Which message meets which receive: by source and tag, first come, first served. Every step takes constant time.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "simulation/schedule.hpp"

namespace chiplog::simulation {

// Lists of operations, linked through one array: an operation is in one list at a time.
class Links {
 public:
  struct List {
    std::uint32_t first = kNone;
    std::uint32_t last = kNone;
  };

  explicit Links(std::size_t operations) : next_(operations, kNone) {}
  void append(List& list, std::uint32_t operation);
  // Must not be empty.
  std::uint32_t take_first(List& list);
  [[nodiscard]] std::uint32_t& next(std::uint32_t operation) { return next_[operation]; }

 private:
  std::vector<std::uint32_t> next_;
};

inline void Links::append(List& list, std::uint32_t operation) {
  next_[operation] = kNone;
  (list.first == kNone ? list.first : next_[list.last]) = operation;
  list.last = operation;
}

inline std::uint32_t Links::take_first(List& list) {
  const std::uint32_t operation = list.first;
  list.first = next_[operation];
  return operation;
}

// For schedules whose receives all name source and tag. One hash table a rank, since few keys wait at a time.
class ExactMatching {
 public:
  ExactMatching(const Schedule& schedule, Links& links);

  // `operation`, a message (its send) that has arrived at `rank` or a receive posted there, meets the longest-waiting
  // counterpart, which is returned; otherwise it waits itself, and kNone is returned.
  std::uint32_t meet(std::uint32_t rank, std::uint32_t source, std::uint32_t tag, std::uint32_t operation);
  // Messages that nobody has received, and receives that wait.
  [[nodiscard]] std::vector<std::uint32_t> waiting();

 private:
  struct Slot {
    std::uint32_t source = 0;
    std::uint32_t tag = 0;
    Links::List list;  // all sends or all receives; empty where the slot is free
  };
  struct Table {
    std::size_t begin = 0;
    std::uint32_t mask = 0;
    std::uint32_t used = 0;
  };

  [[nodiscard]] std::size_t home(const Table& table, std::uint32_t source, std::uint32_t tag) const;
  // The slot of the key, or the free one where it belongs.
  [[nodiscard]] std::size_t find(const Table& table, std::uint32_t source, std::uint32_t tag) const;
  void remove(Table& table, std::size_t slot);
  void grow(Table& table);

  std::span<const Operation> operations_;
  Links& links_;
  std::vector<Table> tables_;
  std::vector<Slot> slots_;
};

// For schedules with wildcards. Messages wait under each of the four keys that may ask for them.
class WildcardMatching {
 public:
  WildcardMatching(const Schedule& schedule, Links& links);

  // As of ExactMatching; source and tag of a receive may be kAny.
  std::uint32_t meet(std::uint32_t rank, std::uint32_t source, std::uint32_t tag, std::uint32_t operation);
  [[nodiscard]] std::vector<std::uint32_t> waiting();

 private:
  struct Key {
    std::uint32_t rank;
    std::uint32_t source;
    std::uint32_t tag;
    bool operator==(const Key&) const = default;
  };
  struct Hash {
    std::size_t operator()(const Key& key) const;
  };
  struct Posted {
    std::uint64_t order;
    std::uint32_t operation;
  };
  template <class Entry>
  using Queues = std::unordered_map<Key, std::deque<Entry>, Hash>;

  [[nodiscard]] static std::array<Key, 4> keys(std::uint32_t rank, std::uint32_t source, std::uint32_t tag);
  std::uint32_t meet_receive(const Key& message, std::uint32_t operation);
  std::uint32_t meet_message(const Key& receive, std::uint32_t operation);

  std::span<const Operation> operations_;
  Queues<Posted> receives_;
  Queues<std::uint32_t> messages_;
  std::vector<bool> taken_;  // by send: its message has been received
  std::uint64_t posts_ = 0;
};

}  // namespace chiplog::simulation
