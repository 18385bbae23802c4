// The NIC of a node, which its processes share (max-rate).
#pragma once

#include <deque>
#include <limits>
#include <vector>

#include "chiplog/transport.hpp"
#include "transports/sim/message.hpp"

namespace chiplog::sim {

// While k processes have a message in it, together they send min(R_N, R_Cb + (k-1) R_Ci), each a k-th of that. The
// messages of one process go one after another, `gap` apart.
//
// How long a message takes depends on what others send meanwhile, so nothing is known before its time: `advance` goes
// from event to event, and may be called when no process can post anything before the next one.
class NodeNic {
 public:
  static constexpr Picoseconds never = std::numeric_limits<Picoseconds>::max();

  struct Transfer {
    Message* message;
    Picoseconds earliest;
    Picoseconds gap;
    double R_Cb;  // bytes per second, as all rates
    double R_Ci;
  };

  NodeNic(double R_N, int processes) : R_N_(R_N), lanes_(static_cast<std::size_t>(processes)) {}

  void add(Rank process, const Transfer& transfer);
  // The time at which a transfer begins or ends next.
  [[nodiscard]] Picoseconds next_event() const;
  // Moves time on to that event. A message whose transfer ends there is no longer under way, and its drain time is
  // noted in it.
  void advance();

  [[nodiscard]] bool is_empty() const;
  // The time at which it is empty and the last gap has passed.
  [[nodiscard]] Picoseconds free_at() const;

 private:
  struct Lane {  // of one process
    std::deque<Transfer> waiting;
    Picoseconds free_at = 0;
    double bytes_left = 0.0;  // of the first one
  };

  [[nodiscard]] static Picoseconds begin_of(const Lane& lane);
  [[nodiscard]] bool sends(const Lane& lane) const { return !lane.waiting.empty() && begin_of(lane) <= now_; }
  [[nodiscard]] double rate(const Transfer& transfer, double senders) const;
  [[nodiscard]] double senders() const;
  [[nodiscard]] Picoseconds end_of(const Lane& lane, double senders) const;
  void finish(Lane& lane);

  double R_N_;
  std::vector<Lane> lanes_;
  Picoseconds now_ = 0;
};

}  // namespace chiplog::sim
