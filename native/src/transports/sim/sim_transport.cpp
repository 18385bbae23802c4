#include "transports/sim/sim_transport.hpp"

#include <functional>
#include <vector>

#include "core/random.hpp"
#include "patterns/serve.hpp"
#include "transports/registry.hpp"
#include "transports/sim/in_process_bootstrap.hpp"
#include "transports/sim/virtual_clock.hpp"

namespace chiplog {
namespace sim {
namespace {

// Every launch and every rank draws its own noise.
std::uint64_t noise_seed(std::uint64_t seed, int launch, Rank rank) {
  const std::uint64_t mixed = split_mix(split_mix(seed) ^ static_cast<std::uint64_t>(launch));
  return split_mix(mixed ^ static_cast<std::uint64_t>(rank));
}

int run(RunContext& context) {
  const Parameters parameters = parse_parameters(context.options, context.settings.seed, context.settings.ranks);
  Fibers fibers;
  Network network(parameters, fibers, noise_seed(parameters.seed, context.settings.launch, parameters.ranks + 1));
  Blackboard board(parameters.ranks);
  int exit_code = 0;
  std::vector<std::function<void()>> ranks;
  for (Rank rank = 0; rank < parameters.ranks; ++rank) {
    ranks.emplace_back([&, rank] {
      InProcessBootstrap bootstrap(fibers, board, rank);
      RunContext own = context;
      own.bootstrap = &bootstrap;
      own.placement = nullptr;
      own.watch_machine = false;
      own.takes_reference = parameters.disturbances.states.has_value();
      if (rank != 0) own.requests = nullptr;
      if (rank != 0) own.records = nullptr;
      SimTransport transport(network, rank);
      const auto own_seed = noise_seed(parameters.seed, context.settings.launch, rank);
      const auto common_seed = noise_seed(parameters.seed, context.settings.launch, parameters.ranks);
      VirtualClock clock(network, rank, own_seed, common_seed);
      const int code = serve(transport, clock, own);
      if (rank == 0) exit_code = code;
    });
  }
  fibers.run(std::move(ranks));
  return exit_code;
}

Capabilities capabilities() {
  Capabilities declared;
  declared.remote_write = true;
  declared.write_with_immediate = true;
  declared.remote_read = true;  // but not between nodes that share a NIC
  declared.atomics = true;
  declared.synchronises = true;  // if S is given
  declared.max_message_bytes = SimTransport::max_message_bytes;
  return declared;
}

}  // namespace

Capabilities SimTransport::capabilities() const {
  Capabilities declared = sim::capabilities();
  declared.synchronises = network_.parameters().S_bytes.has_value();
  declared.remote_read = declared.atomics = !network_.parameters().node;
  return declared;
}

}  // namespace sim

constinit const TransportEntry sim_transport{
    .name = "sim",
    .summary = "a simulated network in virtual time: exact LogGOPS, LogfP, LoP or max-rate with known parameters",
    .options =
        "L=,o=,o_s=,o_r=,g=,G=,O=,O_s=,O_r=DURATION,S=SIZE,handshake=0|sync,f=N,o_min=,o_max=DURATION,R_C=,R_Cb=,R_Ci=,"
        "R_N=RATE,"
        "start-up=added|hidden,lop=key=value:...,lop-overhead=key=value:...,noise=X,noise-kind=log-normal|skewed,"
        "outliers=SHARE,drift=CORRELATION:DEVIATION,states=FACTOR:SHARE:LENGTH,seed=N,ranks=N,"
        "change=SIZE:key=value:...,slope=SIZE:key=value:...",
    .capabilities = sim::capabilities,
    .run = sim::run,
    .in_process = true,
};

}  // namespace chiplog
