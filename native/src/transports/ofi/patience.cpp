#include "transports/ofi/patience.hpp"

#include <sched.h>

#include <cstring>
#include <string>

#include "bootstrap/socket.hpp"
#include "chiplog/error.hpp"

namespace chiplog::ofi {
namespace {

// Whether the ranks of some node outnumber the cores that they may run on. Collective.
bool ranks_are_crowded(Bootstrap& bootstrap) {
  cpu_set_t own;
  CPU_ZERO(&own);
  std::string blob(sizeof own, '\0');
  if (sched_getaffinity(0, sizeof own, &own) == 0) std::memcpy(blob.data(), &own, sizeof own);
  const std::vector<std::string> masks = bootstrap.all_gather(blob);
  for (const Node& node : find_nodes(bootstrap)) {
    cpu_set_t all;
    CPU_ZERO(&all);
    for (const Rank rank : node.ranks) {
      const std::string& mask = masks[static_cast<std::size_t>(rank)];
      if (mask.size() != sizeof own) return false;
      cpu_set_t one;
      std::memcpy(&one, mask.data(), sizeof one);
      CPU_OR(&all, &all, &one);
    }
    if (CPU_COUNT(&all) < static_cast<int>(node.ranks.size())) return true;
  }
  return false;
}

}  // namespace

Patience::Patience(Bootstrap& bootstrap, std::chrono::nanoseconds time_limit)
    : liveness_(bootstrap),
      time_limit_(time_limit),
      spins_(ranks_are_crowded(bootstrap) ? crowded_spins : idle_spins) {}

Patience::Finding Patience::look(Rank peer, std::chrono::steady_clock::time_point since, std::uint32_t looks) const {
  sched_yield();
  if (spins_ == crowded_spins && looks % crowded_looks != 0) return Finding::waits;
  if (!liveness_.lives(peer)) return Finding::lost;
  return std::chrono::steady_clock::now() - since < time_limit_ ? Finding::waits : Finding::late;
}

void Patience::throw_finding(Finding finding, Rank peer) const {
  const std::string who = "rank " + std::to_string(peer);
  if (finding == Finding::lost) throw PeerLost(who + " has ended");
  throw TimedOut("no word from " + who + " within " + seconds_text(time_limit_));
}

}  // namespace chiplog::ofi
