#include "transports/watch.hpp"

#include <sched.h>

#include <cstring>
#include <string>

#include "core/failures.hpp"
#include "core/machine.hpp"

namespace chiplog {

bool ranks_are_crowded(Bootstrap& bootstrap) {
  cpu_set_t own;
  CPU_ZERO(&own);
  std::string blob;
  if (sched_getaffinity(0, sizeof own, &own) == 0) blob.assign(reinterpret_cast<const char*>(&own), sizeof own);
  const std::string host = boot_id();
  cpu_set_t all;
  CPU_ZERO(&all);
  int ranks = 0;
  for (const std::string& mask_and_host : bootstrap.all_gather(blob + host)) {
    if (mask_and_host.size() != sizeof own + host.size()) return false;
    if (mask_and_host.compare(sizeof own, std::string::npos, host) != 0) continue;
    cpu_set_t one;
    std::memcpy(&one, mask_and_host.data(), sizeof one);
    CPU_OR(&all, &all, &one);
    ++ranks;
  }
  return CPU_COUNT(&all) < ranks;
}

Watch::Finding Watch::check(Rank peer, const Wait& wait) const {
  if (!lives_(peer)) return Finding::lost;
  return wait.is_late() ? Finding::late : Finding::waits;
}

void Watch::throw_finding(Finding finding, Rank peer) const {
  if (finding == Finding::lost) throw_left(peer);
  throw_timed_out(peer, policy_.time_limit);
}

}  // namespace chiplog
