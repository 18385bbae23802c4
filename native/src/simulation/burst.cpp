#include "simulation/burst.hpp"

#include <algorithm>
#include <limits>

namespace chiplog::simulation {

RankTimes after_burst(const BurstCosts& message, RankTimes rank, std::size_t count, std::vector<double>& arrivals) {
  constexpr double never = std::numeric_limits<double>::infinity();
  arrivals.resize(count);
  std::size_t sent = 0;
  for (std::size_t received = 0; received < count;) {
    const double arrival = received < sent ? arrivals[received] : never;
    const double send_at = std::max(rank.free, rank.send_nic);
    const double receive_at = std::max({rank.free, rank.receive_nic + message.lead, arrival});
    if (sent < count && send_at <= receive_at) {
      arrivals[sent++] = send_at + message.way;
      rank.free = send_at + message.send_busy;
      rank.send_nic = send_at + message.gap;
    } else {
      rank.free = receive_at + message.receive_busy;
      rank.receive_nic = receive_at + message.gap - message.lead;
      ++received;
    }
  }
  return rank;
}

}  // namespace chiplog::simulation
