#include "transports/shm/watch.hpp"

#include <sched.h>

#include <string>

#include "bootstrap/socket.hpp"
#include "chiplog/error.hpp"

namespace chiplog::shm {

Watch::Finding Watch::look(Rank peer, std::chrono::steady_clock::time_point since, std::uint32_t looks) const {
  sched_yield();
  if (spins_ == crowded_spins && looks % crowded_yields != 0) return Finding::waits;
  if (!lives_(peer)) return Finding::lost;
  return std::chrono::steady_clock::now() - since < time_limit_ ? Finding::waits : Finding::late;
}

void Watch::throw_finding(Finding finding, Rank peer) const {
  const std::string who = "rank " + std::to_string(peer);
  if (finding == Finding::lost) throw PeerLost(who + " has left the shared memory");
  throw TimedOut("no word from " + who + " within " + seconds_text(time_limit_));
}

}  // namespace chiplog::shm
