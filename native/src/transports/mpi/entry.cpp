#include "chiplog/error.hpp"
#include "patterns/make_endpoint.hpp"
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

std::unique_ptr<Endpoint> make_mpi_endpoint(Bootstrap& bootstrap, Options& options, const RunSettings& settings) {
  const MpiOperations operations = operations_of(options);
  options.refuse_unknown();
  const auto make_transport = [&] { return MpiTransport(operations); };
#if defined(CHIPLOG_SMPI)
  return make_endpoint(bootstrap, settings.time_limit, make_transport, [] { return SimulatedClock(); });
#else
  return make_endpoint(bootstrap, settings.time_limit, make_transport);
#endif
}

}  // namespace

constinit const TransportEntry mpi_transport{
    .name = "mpi",
    .summary = "MPI, of the library that this probe was built with: messages and, with rma, one-sided operations",
    .options = "rma[=flush|fence]",
    .capabilities = [] { return MpiTransport::capabilities_with(MpiOperations::messages); },
    .ranks = OneProcessARank{.make_endpoint = make_mpi_endpoint, .needs_mpi = true},
};

}  // namespace chiplog
