#include "transports/sim/sim_transport.hpp"

#include <functional>
#include <vector>

#include "core/random.hpp"
#include "patterns/make_endpoint.hpp"
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

void run_ranks(Options& options, const RunSettings& settings, const OneProcessForAll::RankBody& body) {
  const Parameters parameters = parse_parameters(options, settings.seed, settings.ranks);
  const auto seed_of = [&](Rank rank) { return noise_seed(parameters.seed, settings.launch, rank); };
  Fibers fibers;
  Network network(parameters, fibers, seed_of(parameters.ranks + 1));
  Blackboard board(parameters.ranks);
  std::vector<std::function<void()>> ranks;
  for (Rank rank = 0; rank < parameters.ranks; ++rank) {
    ranks.emplace_back([&, rank] {
      InProcessBootstrap bootstrap(fibers, board, rank);
      const auto endpoint = make_endpoint(
          bootstrap, settings.time_limit, [&] { return SimTransport(network, rank); },
          [&] { return VirtualClock(network, rank, seed_of(rank), seed_of(parameters.ranks)); });
      body(bootstrap, *endpoint);
    });
  }
  fibers.run(std::move(ranks));
}

}  // namespace

Capabilities SimTransport::capabilities() const {
  Capabilities declared = declared_capabilities();
  declared.synchronises = network_.parameters().S_bytes.has_value();
  declared.remote_read = declared.atomics = !network_.parameters().node;
  return declared;
}

}  // namespace sim

constinit const TransportEntry sim_transport{
    .name = "sim",
    .summary = "a simulated network in virtual time: exact LogGOPS, LogfP, LoP or max-rate with known parameters",
    .options =
        "L=,o=,o_s=,o_r=,g=,G=,O=,O_s=,O_r=DURATION,S=SIZE,handshake=0|sync,progress=always|calls,f=N,o_min=,o_max="
        "DURATION,R_C=,R_Cb=,R_Ci=,"
        "R_N=RATE,"
        "start-up=added|hidden,lop=key=value:...,lop-overhead=key=value:...,noise=X,noise-kind=log-normal|skewed,"
        "outliers=SHARE,drift=CORRELATION:DEVIATION,states=FACTOR:SHARE:LENGTH,slow=FACTOR:RANK[-RANK],duplex=FACTOR,"
        "seed=N,"
        "ranks=N,"
        "change=SIZE:key=value:...,slope=SIZE:key=value:...",
    .capabilities = sim::SimTransport::declared_capabilities,
    .ranks = OneProcessForAll{.run_ranks = sim::run_ranks},
};

}  // namespace chiplog
