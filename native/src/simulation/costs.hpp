// LogGOPS parameters, and what a message of s bytes costs under them.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "simulation/time.hpp"

namespace chiplog::simulation {

// Parameters of messages from a size on.
struct Protocol {
  std::uint64_t first_bytes = 0;
  Picoseconds L = 0;
  Picoseconds o = 0;
  Picoseconds g = 0;
  std::int64_t G_attoseconds = 0;  // per byte after the first
  std::int64_t O_attoseconds = 0;  // per byte after the first
};

struct Parameters {
  std::vector<Protocol> protocols;  // by ascending size, from 0 bytes on
  std::uint64_t S_bytes = 0;        // a send of more bytes ends when its receive has been matched
};

// How long a message occupies its ends.
struct MessageCost {
  std::uint64_t bytes = 0;
  Picoseconds send_cpu = 0;     // o + (s-1) O
  Picoseconds receive_cpu = 0;  // o + max((s-1) O, (s-1) G)
  Picoseconds nic = 0;          // g + (s-1) G
  Picoseconds arrival = 0;      // o + L: from the start of the send until the first byte is there
};

// Remembers the costs of recent sizes, since most schedules have few. 0 bytes cost as much as 1.
class Costs {
 public:
  // Throws std::invalid_argument unless all parameters are >= 0 and the protocols begin at 0 bytes and ascend.
  explicit Costs(const Parameters& parameters);

  // The reference holds until the next call. Throws TimeOverflow.
  [[nodiscard]] const MessageCost& of(std::uint64_t bytes) {
    MessageCost& entry = recent_[bytes % recent_.size()];
    if (entry.bytes != bytes) entry = compute(bytes);
    return entry;
  }
  [[nodiscard]] bool synchronises(std::uint64_t bytes) const { return bytes > parameters_.S_bytes; }

 private:
  [[nodiscard]] MessageCost compute(std::uint64_t bytes) const;

  Parameters parameters_;
  std::array<MessageCost, 61> recent_;
};

}  // namespace chiplog::simulation
