// LogGOPS parameters, and what a message of s bytes costs under them.
#pragma once

#include <array>
#include <cstdint>

#include "simulation/time.hpp"

namespace chiplog::simulation {

struct Parameters {
  Picoseconds L = 0;
  Picoseconds o = 0;
  Picoseconds g = 0;
  std::int64_t G_attoseconds = 0;  // per byte after the first
  std::int64_t O_attoseconds = 0;  // per byte after the first
  std::uint64_t S_bytes = 0;       // a send of more bytes ends when its receive has been matched
};

// How long a message occupies its ends.
struct MessageCost {
  std::uint64_t bytes = 0;
  Picoseconds send_cpu = 0;     // o + (s-1) O
  Picoseconds receive_cpu = 0;  // o + max((s-1) O, (s-1) G)
  Picoseconds nic = 0;          // g + (s-1) G
};

// Remembers the costs of recent sizes, since most schedules have few. 0 bytes cost as much as 1.
class Costs {
 public:
  // Throws std::invalid_argument unless all parameters are >= 0, TimeOverflow if o + L exceeds the range of time.
  explicit Costs(const Parameters& parameters);

  // The reference holds until the next call. Throws TimeOverflow.
  [[nodiscard]] const MessageCost& of(std::uint64_t bytes) {
    MessageCost& entry = recent_[bytes % recent_.size()];
    if (entry.bytes != bytes) entry = compute(bytes);
    return entry;
  }
  [[nodiscard]] Picoseconds send_to_arrival() const { return send_to_arrival_; }  // of the first byte: o + L
  [[nodiscard]] bool synchronises(std::uint64_t bytes) const { return bytes > parameters_.S_bytes; }

 private:
  [[nodiscard]] MessageCost compute(std::uint64_t bytes) const;

  Parameters parameters_;
  Picoseconds send_to_arrival_;
  std::array<MessageCost, 61> recent_;
};

}  // namespace chiplog::simulation
