// Where the ranks of a transport live for one case: in forked processes, or as fibers of a simulation.
//
// A world has a `name`, a type `Tested` and the functions of ForkedWorld. It may have
//   static std::string missing()              why there are no tests of it on this machine, empty if there are
//   static constexpr bool needs_device = true  what is missing can't be installed, so it is no failure anywhere
//   static constexpr bool refuses_wrong_keys = true  a key of a window that is gone ends in an error
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <csignal>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "../ranks/presence.hpp"
#include "../ranks/processes.hpp"
#include "bootstrap/bootstraps.hpp"
#include "chiplog/contract.hpp"
#include "patterns/make_endpoint.hpp"

namespace chiplog::conformance {

using Limit = std::chrono::nanoseconds;
// Long: a case that runs into it fails, because it expects something else.
constexpr Limit time_limit = std::chrono::seconds(60);
constexpr const char* died = "died";

// What became of each rank: "" if its body returned, `died`, or "kind of error: sentence".
using Outcomes = std::vector<std::string>;

template <Transport T>
using RankBody = std::function<void(Bootstrap& bootstrap, T& transport)>;
using EndpointBody = std::function<void(Bootstrap& bootstrap, Endpoint& endpoint)>;

// Rank 0 is the test's own process. `make` gives a transport that waits for so long.
template <Transport T, T (*make)(Bootstrap&, Limit)>
struct ForkedWorld {
  using Tested = T;

  [[noreturn]] static void die() {
    std::raise(SIGKILL);
    _exit(1);
  }

  static Outcomes run(int ranks, const RankBody<T>& body, Limit limit = time_limit) {
    return run_processes(ranks, [&](Bootstrap& bootstrap) {
      T transport = make(bootstrap, limit);
      body(bootstrap, transport);
    });
  }

  static Outcomes run_endpoints(int ranks, const EndpointBody& body) {
    return run_processes(ranks, [&](Bootstrap& bootstrap) {
      const auto endpoint =
          make_endpoint(bootstrap, time_limit, [&] { return make(bootstrap, time_limit); }, [] { return RawClock(); });
      body(bootstrap, *endpoint);
    });
  }

 private:
  static Outcomes run_processes(int ranks, const std::function<void(Bootstrap&)>& body) {
    std::vector<testing::Pipe> reports(static_cast<std::size_t>(ranks));
    Outcomes outcomes(static_cast<std::size_t>(ranks), died);
    {
      const std::unique_ptr<Bootstrap> bootstrap = make_fork_bootstrap(ranks, time_limit);
      const Rank rank = bootstrap->rank();
      outcomes[0] = testing::outcome_of([&] { body(*bootstrap); });
      if (rank != 0) {
        reports[static_cast<std::size_t>(rank)].write("." + outcomes[0]);
        _exit(0);
      }
    }
    for (std::size_t rank = 1; rank < outcomes.size(); ++rank) {
      const std::string reported = reports[rank].read_to_end();
      if (!reported.empty()) outcomes[rank] = reported.substr(1);
    }
    return outcomes;
  }
};

// Tests are called after their world: "Messages/shm.OneByteArrives".
struct WorldNames {
  template <class World>
  static std::string GetName(int /*index*/) {
    return World::name;
  }
};

// The names of transports that have worlds, of all files of this program.
std::vector<std::string>& transports_with_worlds();

template <class... Worlds>
bool note_worlds(::testing::Types<Worlds...>) {
  (transports_with_worlds().emplace_back(Worlds::Tested::name), ...);
  (testing::leave_out("*/" + std::string(Worlds::name) + ".*", testing::left_out_for<Worlds>), ...);
  return true;
}

// Leaves a case of a suite out for worlds where `applies` is false. `lacks` says what they lack.
template <class... Worlds, class Applies>
bool note_case(::testing::Types<Worlds...>, const std::string& suite, const std::string& name, const char* lacks,
               Applies applies) {
  const auto note = [&]<class World>() {
    if constexpr (decltype(applies.template operator()<World>())::value) return;
    testing::leave_out(suite + "/" + World::name + "." + name,
                       [lacks] { return std::string(World::name) + " lacks " + lacks; });
  };
  (note.template operator()<Worlds>(), ...);
  return true;
}

}  // namespace chiplog::conformance
