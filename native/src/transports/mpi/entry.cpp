#include "patterns/serve.hpp"
#include "transports/mpi/mpi.hpp"
#include "transports/mpi/simulated_clock.hpp"
#include "transports/registry.hpp"

namespace chiplog {
namespace {

int run_mpi(RunContext& context) {
  context.options.refuse_unknown();
  MpiTransport transport;
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
    .summary = "two-sided MPI, of the library that this probe was built with",
    .options = "",
    .capabilities = MpiTransport::declared_capabilities,
    .run = run_mpi,
    .needs_mpi = true,
};

}  // namespace chiplog
