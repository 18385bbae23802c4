// Bootstraps for ranks that MPI does not start, and what launchers tell about a rank.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "chiplog/bootstrap.hpp"

namespace chiplog {

// Forks `ranks` - 1 children and returns in every process: the caller is rank 0, its children are ranks 1, 2, …
// Children ignore SIGINT (rank 0 decides how a run ends) and die with rank 0. Rank 0's object reaps them: it closes its
// connections, waits for the time limit (a moment if an error is on its way), and kills those that still run. A
// child that died is reported as PeerLost with its signal or exit status. Call it from the process' only thread, with
// nothing unwritten in buffered streams.
std::unique_ptr<Bootstrap> make_fork_bootstrap(int ranks, std::chrono::nanoseconds time_limit);

struct RendezvousPoint {
  std::string host = "127.0.0.1";
  std::uint16_t port = 0;
};

// Ranks that a launcher started meet over TCP: rank 0 listens at `point`, the others connect and try again until the
// time limit. Each side proves that it knows the secret without sending it; what follows is neither signed nor
// encrypted. Strangers are turned away and keep nobody from meeting. UsageError for an empty secret, a rank outside
// [0, size) or a host that is unknown; TimedOut if not all ranks met; Error for a wrong secret.
std::unique_ptr<Bootstrap> make_rendezvous_bootstrap(const RendezvousPoint& point, Rank rank, int size,
                                                     std::string_view secret, std::chrono::nanoseconds time_limit);

// "host:port" or "[IPv6 address]:port"; UsageError for anything else.
RendezvousPoint parse_rendezvous_point(std::string_view text);

// Where rank 0 may be found, if nobody knows its host beforehand.
struct RendezvousSearch {
  std::uint16_t first_port = 0;  // rank 0 listens at the first free one of some ports from here on
  std::string file;              // in a folder that all hosts share: rank 0 writes its addresses there; may be empty
};

// As make_rendezvous_bootstrap, but rank 0's host need not be known: see bootstrap/search.hpp.
std::unique_ptr<Bootstrap> make_searching_bootstrap(const RendezvousSearch& where, Rank rank, int size,
                                                    std::string_view secret, std::chrono::nanoseconds time_limit);

struct LauncherIdentity {
  Rank rank = 0;
  int size = 1;
  std::string_view launcher;  // "chiplog", "Open MPI", "PMIx", "PMI" or "Slurm"
};

// The value of an environment variable, null where it is not set.
using Environment = std::function<const char*(const char*)>;

// The rank and size that the launcher gave this process; empty where there is no launcher. CHIPLOG_RANK and
// CHIPLOG_SIZE come first. UsageError naming the variable if one is malformed, out of range or alone.
std::optional<LauncherIdentity> launcher_identity(const Environment& environment);
std::optional<LauncherIdentity> launcher_identity();

// The rendezvous of this process as CHIPLOG_RENDEZVOUS, CHIPLOG_SECRET and the launcher tell; null where
// CHIPLOG_RENDEZVOUS is not set. It is host:port, or search:port for a search from that port on, with
// CHIPLOG_MEETING_FILE. UsageError naming what else is missing.
std::unique_ptr<Bootstrap> make_bootstrap_from_environment(std::chrono::nanoseconds time_limit);

}  // namespace chiplog
