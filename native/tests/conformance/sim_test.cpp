#include "transports/sim/fibers.hpp"
#include "transports/sim/in_process_bootstrap.hpp"
#include "transports/sim/network.hpp"
#include "transports/sim/sim_transport.hpp"
#include "transports/sim/virtual_clock.hpp"
#include "worlds.hpp"

namespace chiplog::conformance {
namespace {

struct Sim {
  using Tested = sim::SimTransport;
  static constexpr const char* name = "sim";
  struct Death {};

  [[noreturn]] static void die() { throw Death{}; }

  static Outcomes run(int ranks, const RankBody<Tested>& body, Limit /*limit*/ = time_limit) {
    return run_fibers(ranks, [&](Bootstrap& bootstrap, sim::Network& network) {
      Tested transport(network, bootstrap.rank());
      body(bootstrap, transport);
    });
  }

  static Outcomes run_endpoints(int ranks, const EndpointBody& body) {
    return run_fibers(ranks, [&](Bootstrap& bootstrap, sim::Network& network) {
      const Rank rank = bootstrap.rank();
      const auto endpoint = make_endpoint(
          bootstrap, time_limit, [&] { return Tested(network, rank); },
          [&] { return sim::VirtualClock(network, rank, 1, 2); });
      body(bootstrap, *endpoint);
    });
  }

 private:
  static Outcomes run_fibers(int ranks, const std::function<void(Bootstrap&, sim::Network&)>& body) {
    Options options("sim", {{"S", "8KiB"}});
    const sim::Parameters parameters = sim::parse_parameters(options, 1, ranks);
    sim::Fibers fibers;
    sim::Network network(parameters, fibers);
    sim::Blackboard board(ranks);
    Outcomes outcomes(static_cast<std::size_t>(ranks));
    std::vector<std::function<void()>> bodies;
    for (Rank rank = 0; rank < ranks; ++rank) {
      bodies.emplace_back([&, rank] {
        std::string& outcome = outcomes[static_cast<std::size_t>(rank)];
        sim::InProcessBootstrap bootstrap(fibers, board, rank);
        try {
          outcome = testing::outcome_of([&] { body(bootstrap, network); });
        } catch (const Death&) {
          outcome = died;
        }
      });
    }
    fibers.run(std::move(bodies));
    return outcomes;
  }
};
using Worlds = ::testing::Types<Sim>;

}  // namespace
}  // namespace chiplog::conformance

#include "suites.hpp"
