// The transports of this build. A transport is one folder and one line in list.inc.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string_view>
#include <variant>

#include "chiplog/availability.hpp"
#include "chiplog/bootstrap.hpp"
#include "chiplog/transport.hpp"
#include "core/endpoint.hpp"
#include "core/options.hpp"
#include "core/run_settings.hpp"

namespace chiplog {

// Each rank is a process. They meet first; then each makes its endpoint, all at the same time.
struct OneProcessARank {
  // Takes what it knows from `options`, then calls `options.refuse_unknown()` before it opens anything. What is wrong
  // is thrown as Error. The endpoint may refer to the bootstrap.
  std::unique_ptr<Endpoint> (*make_endpoint)(Bootstrap& bootstrap, Options& options, const RunSettings& settings);
  // MPI starts the ranks, so they meet over MPI, too.
  bool needs_mpi = false;
};

// All ranks live in the calling process.
struct OneProcessForAll {
  using RankBody = std::function<void(Bootstrap& bootstrap, Endpoint& endpoint)>;
  // Makes `settings.ranks` ranks unless an option says how many, and calls `body` on each of them, side by side.
  void (*run_ranks)(Options& options, const RunSettings& settings, const RankBody& body);
};

// A transport defines one of these in namespace chiplog, as
//   constinit const TransportEntry tcp_transport{.name = "tcp", ...};
// and is listed in list.inc by that name, which declares it here.
struct TransportEntry {
  std::string_view name;
  std::string_view summary;  // one line for `--list`
  std::string_view options;  // as a user writes them, "bind=ADDRESS,busy_poll=0|1"
  Capabilities (*capabilities)();
  std::variant<OneProcessARank, OneProcessForAll> ranks;
  // For `--list`: looks for libraries and devices, opens nothing that it doesn't close. What it throws as Error is why
  // the transport can't be used. Without it the transport is usable wherever the probe runs.
  Availability (*availability)() = [] { return Availability{}; };
  // What makes it usable where `availability` doesn't say: a sentence without a full stop.
  std::string_view remedy = {};
};

#define CHIPLOG_TRANSPORT(entry) extern const TransportEntry entry;
#include "transports/list.inc"

// A transport that this build was made without.
struct NotBuilt {
  std::string_view name;
  std::string_view needs;  // what was missing, and what brings it
};

[[nodiscard]] std::span<const TransportEntry* const> transports();
[[nodiscard]] std::span<const NotBuilt> transports_not_built();
[[nodiscard]] Availability availability_of(const TransportEntry& transport);

// UsageError that says what is missing for a transport that isn't built, or lists the names there are.
[[nodiscard]] const TransportEntry& find_transport(std::string_view name);

}  // namespace chiplog
