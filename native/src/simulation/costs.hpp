// LogGOPS parameters, and what a message of s bytes costs under them.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "simulation/noise.hpp"
#include "simulation/schedule.hpp"
#include "simulation/time.hpp"

namespace chiplog::simulation {

// A line over the message size: `start` for the first byte, plus a time for each further byte.
struct Line {
  Picoseconds start = 0;
  std::int64_t attoseconds_per_byte = 0;
};

// The costs of messages from one size on. In LogGOPS these are send o + (s-1) O, nic g + (s-1) G, receive o + (s-1)
// max(O, G) and one_way o + L + receive.
struct Protocol {
  std::uint64_t first_bytes = 0;
  Line send;                       // the sender's CPU
  Line nic;                        // each NIC
  Line receive;                    // the receiver's CPU; at most one_way
  Line one_way;                    // from the start of the send until the message is received
  bool receiver_keeps_up = false;  // a receive takes at most what the sender's CPU or the NIC takes
  bool arrives_whole = false;      // one_way less receive is when its last byte is there, not its first
};

using Protocols = std::vector<Protocol>;  // by ascending size, from 0 bytes on

// Says which protocols apply to each pair of ranks, where pairs differ: within a node and between nodes, for example.
struct PairClasses {
  std::vector<Protocols> classes;
  std::vector<std::uint16_t> group_of_rank;
  std::vector<std::uint16_t> class_of_groups;  // by the sender's group and the receiver's: groups x groups
};

struct Parameters {
  Protocols protocols;                          // of all pairs of ranks, unless `pairs` has classes
  std::vector<Protocols> protocols_of_traffic;  // in their place, of sends whose `traffic` is 1, 2, ...
  std::uint64_t S_bytes = 0;                    // a send of more bytes ends when its receive has been matched
  PairClasses pairs;
  std::uint32_t free_messages = 1;             // LogfP's f: so many sends in a row needn't wait for g
  std::uint32_t ranks_per_node = 0;            // that share a rate; 0: none do
  std::int64_t node_attoseconds_per_byte = 0;  // 1/R_N
  NoiseParameters noise;
};

// The time of all bytes of a message but the first, rounded to the nearest picosecond, halves up. Throws TimeOverflow.
[[nodiscard]] Picoseconds bytes_after_first(std::uint64_t bytes, std::int64_t attoseconds_per_byte);

// A send may start this long before its NIC is free. The first `free_messages` of a burst do not wait for the NIC;
// with 1 of them this is plain LogGOPS. Throws std::invalid_argument where there are none, and TimeOverflow.
[[nodiscard]] Picoseconds free_gaps(const Parameters& parameters);

// The times for which a message occupies sender, NIC and receiver.
struct MessageCost {
  std::uint64_t bytes = 0;
  Picoseconds send_cpu = 0;
  Picoseconds receive_cpu = 0;
  Picoseconds nic = 0;
  Picoseconds wire = 0;     // of its bytes after the first alone
  Picoseconds arrival = 0;  // from the start of the send until the receiver's CPU may take it
  Picoseconds lead = 0;     // of `nic`, what passes at the receiver before it is taken
};

// Caches the costs of recent sizes, since most schedules use few sizes. A message of 0 bytes costs as much as one of 1.
class Costs {
 public:
  // Throws std::invalid_argument unless all parameters are >= 0 and the protocols begin at 0 bytes and ascend.
  explicit Costs(Protocols protocols);

  // The reference holds until the next call. Throws TimeOverflow.
  [[nodiscard]] const MessageCost& of(std::uint64_t bytes) {
    MessageCost& entry = recent_[bytes % recent_.size()];
    if (entry.bytes != bytes) entry = compute(bytes);
    return entry;
  }

  [[nodiscard]] const Protocol& protocol_of(std::uint64_t bytes) const;

  [[nodiscard]] bool arrive_whole() const {
    return std::any_of(protocols_.begin(), protocols_.end(), [](const Protocol& one) { return one.arrives_whole; });
  }

 private:
  [[nodiscard]] MessageCost compute(std::uint64_t bytes) const;

  Protocols protocols_;
  std::array<MessageCost, 61> recent_;
};

// Holds the costs of each class of pairs.
class PairCosts {
 public:
  // Throws std::invalid_argument as Costs does, and unless each rank has a group and each two groups have a class.
  PairCosts(const Parameters& parameters, std::uint32_t ranks);

  // The reference holds until the next call. Throws TimeOverflow.
  [[nodiscard]] const MessageCost& of(const Operation& send) { return costs_[place_of(send)].of(send.amount); }

  [[nodiscard]] const Protocol& protocol_of(const Operation& send) const {
    return costs_[place_of(send)].protocol_of(send.amount);
  }

  // True if messages of some class and size arrive as a whole.
  [[nodiscard]] bool arrive_whole() const {
    return std::any_of(costs_.begin(), costs_.end(), [](const Costs& one) { return one.arrive_whole(); });
  }

 private:
  [[nodiscard]] std::size_t place_of(const Operation& send) const {
    return groups_ == 0 ? of_traffic(send.traffic) : class_of(send.rank, send.peer);
  }

  [[nodiscard]] std::size_t of_traffic(std::uint8_t traffic) const { return traffic < costs_.size() ? traffic : 0; }

  [[nodiscard]] std::size_t class_of(std::uint32_t from, std::uint32_t to) const {
    return class_of_groups_[group_of_rank_[from] * groups_ + group_of_rank_[to]];
  }

  std::vector<Costs> costs_;
  std::vector<std::uint16_t> group_of_rank_;
  std::vector<std::uint16_t> class_of_groups_;
  std::size_t groups_ = 0;  // 0 where all pairs are alike
};

}  // namespace chiplog::simulation
