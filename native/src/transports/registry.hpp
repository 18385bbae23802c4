// The transports of this build. A transport is one folder and one line in list.inc.
#pragma once

#include <span>
#include <string_view>

#include "chiplog/availability.hpp"
#include "chiplog/transport.hpp"
#include "core/run_context.hpp"

namespace chiplog {

// A transport defines one of these in namespace chiplog, as
//   constinit const TransportEntry tcp_transport{.name = "tcp", ...};
// and is listed in list.inc by that name, which declares it here.
struct TransportEntry {
  std::string_view name;
  std::string_view summary;  // one line for `--list`
  std::string_view options;  // as a user writes them, "bind=ADDRESS,busy_poll=0|1"
  Capabilities (*capabilities)();
  // Takes its options from `context`, makes transport and clock, and returns serve(transport, clock, context): the
  // process' exit code. Called on every rank; what is wrong is thrown as Error.
  int (*run)(RunContext& context);
  // All ranks live in the calling process (sim): `context.bootstrap` is null and `settings.ranks` says how many.
  bool in_process = false;
  // The environment that starts the ranks is MPI, so the bootstrap must be, too.
  bool needs_mpi = false;
  // For `--list`: looks for libraries and devices, opens nothing that it doesn't close. What it throws as Error is why
  // the transport can't be used. Without it the transport is usable wherever the probe runs.
  Availability (*availability)() = nullptr;
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
