#include "chiplog/error.hpp"
#include "patterns/serve.hpp"
#include "transports/mpi/mpi.hpp"
#include "transports/mpi/simulated_clock.hpp"
#include "transports/registry.hpp"

namespace chiplog {
namespace {

MpiOperations operations_of(Options& options) {
  if (!options.has("rma")) return MpiOperations::messages;
#if defined(CHIPLOG_SMPI)
  throw UsageError(options.named("rma") +
                   ": a rank that looks at its memory again and again takes no simulated time, so SMPI can't time it");
#else
  const std::string completed_by = options.text("rma", "flush");
  if (completed_by == "fence") {
    throw UsageError(options.named("rma") +
                     ": MPI_Win_fence is collective, so no rank can complete its operations alone, as every pattern "
                     "does; rma=flush completes them by MPI_Win_flush");
  }
  if (!completed_by.empty() && completed_by != "flush") {
    throw UsageError(options.named("rma") + " accepts flush, not '" + completed_by + "'");
  }
  return MpiOperations::one_sided_too;
#endif
}

int run_mpi(RunContext& context) {
  const MpiOperations operations = operations_of(context.options);
  context.options.refuse_unknown();
  MpiTransport transport(operations);
#if defined(CHIPLOG_SMPI)
  SimulatedClock clock;
  context.watch_machine = false;
  return serve(transport, clock, context);
#else
  return serve_with_machine_clock(transport, context);
#endif
}

}  // namespace

constinit const TransportEntry mpi_transport{
    .name = "mpi",
    .summary = "MPI, of the library that this probe was built with: messages and, with rma, one-sided operations",
    .options = "rma[=flush]",
    .capabilities = MpiTransport::declared_capabilities,
    .run = run_mpi,
    .needs_mpi = true,
};

}  // namespace chiplog
