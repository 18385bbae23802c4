// One rank that sends a burst of messages and receives as many from ranks with the same timeline, in seconds.
#pragma once

#include <cstddef>
#include <vector>

namespace chiplog::simulation {

// What one message costs; chiplog.collectives.costs.Message says what each one means.
struct BurstCosts {
  double send_busy;
  double gap;
  double way;
  double receive_busy;
  double lead;
};

// When the CPU and the two NICs of a rank are free.
struct RankTimes {
  double free;
  double send_nic;
  double receive_nic;
};

// The times after `count` sends and `count` receives. Whichever can start first has the CPU, the send where both can.
// `arrivals` is scratch memory, which one call leaves to the next.
RankTimes after_burst(const BurstCosts& message, RankTimes rank, std::size_t count, std::vector<double>& arrivals);

}  // namespace chiplog::simulation
