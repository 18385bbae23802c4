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
  if (completed_by.empty() || completed_by == "flush") return MpiOperations::flushed;
  if (completed_by == "fence") return MpiOperations::fenced;
  throw UsageError(options.named("rma") + " accepts flush, fence, not '" + completed_by + "'");
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
    .options = "rma[=flush|fence]",
    .capabilities = MpiTransport::declared_capabilities,
    .run = run_mpi,
    .needs_mpi = true,
};

}  // namespace chiplog
