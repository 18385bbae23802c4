// The transports of this build. A transport is one folder and one line in list.inc.
#pragma once

#include <span>
#include <string_view>

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
};

#define CHIPLOG_TRANSPORT(entry) extern const TransportEntry entry;
#include "transports/list.inc"
#undef CHIPLOG_TRANSPORT

[[nodiscard]] std::span<const TransportEntry* const> transports();

// UsageError that lists the names there are.
[[nodiscard]] const TransportEntry& find_transport(std::string_view name);

}  // namespace chiplog
