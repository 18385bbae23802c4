// Executes a schedule under LogGOPS and says when each rank is done.
//
// A rank has CPUs and NICs, one unless the schedule names more; an operation names one of each.
//   calc d     takes its CPU for d.
//   send s     takes CPU and sending NIC when both are free, at t: the CPU until t + o + (s-1) O, the NIC until
//              t + g + (s-1) G. The message is at the receiver at t + o + L. The send ends with its CPU time; with
//              s > S when its message is received, and its CPU and NIC are not free before that.
//   message s  takes the receiver's CPU and receiving NIC (those its send names) when both are free, at a: the CPU to
//              a + o + max((s-1) O, (s-1) G), the NIC until a + g + (s-1) G. It meets the receive posted first that
//              matches, which ends with this CPU time, or waits for one, which then ends as it is posted.
// These are four lines over s (costs.hpp), so that a network whose overheads differ at its two ends has its own.
//   receive    is posted when it is ready and its CPU is free.
// Optional: noise lengthens CPU times (noise.hpp), ranks of a node share its rate (nodes.hpp), some messages are free
// of g, and pairs of ranks differ (costs.hpp). Operations that wait for the same thing are served in the order in which
// they became ready; those that became ready together: sends, receives, calcs, each in the order of the schedule.
//
// Source: T. Hoefler, T. Schneider, A. Lumsdaine, "LogGOPSim - simulating large-scale applications in the LogGOPS
// model", LSAP 2010.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "simulation/costs.hpp"
#include "simulation/critical_path.hpp"
#include "simulation/schedule.hpp"
#include "simulation/time.hpp"

namespace chiplog::simulation {

enum class Work : std::uint32_t { calc, send, receive };

// CPU time on a rank: that of the operation, or for Work::receive that of its peer.
struct Busy {
  Picoseconds start = 0;
  Picoseconds end = 0;
  std::uint32_t operation = 0;  // for Work::receive the send of the message
  Work work = Work::calc;
};
static_assert(sizeof(Busy) == 24);

struct Options {
  bool trace = false;
  std::function<void()> poll;  // called about every million events; may throw to end the simulation
  bool follow = false;         // tells the critical path
};

struct Outcome {
  std::vector<Picoseconds> finish;  // one a rank: when its last CPU becomes free for good
  std::uint64_t events = 0;         // operations executed and messages sent: three a message
  std::vector<Busy> trace;          // in the order of execution; empty unless asked for
  CriticalPath critical_path;       // to the rank that is done last; empty unless asked for
  // Set where the schedule can't finish:
  std::vector<std::uint32_t> unfinished;  // operations that have not ended
  std::vector<std::uint32_t> unreceived;  // ended sends whose message nobody has received

  [[nodiscard]] bool complete() const { return unfinished.empty() && unreceived.empty(); }
};

// Throws std::invalid_argument as check() does, and TimeOverflow. It takes about 35 bytes an operation, 8 more to
// follow the critical path. That path is known without noise, with f = 1, and where no ranks share a node's rate:
// std::invalid_argument otherwise.
[[nodiscard]] Outcome simulate(const Schedule& schedule, const Parameters& parameters, const Options& options = {});

}  // namespace chiplog::simulation
