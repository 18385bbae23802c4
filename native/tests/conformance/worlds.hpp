// Where two ranks of a transport live for one case: forked processes, or fibers of the simulation.
#pragma once

#include <sys/socket.h>
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
#include "transports/shm/shm.hpp"
#include "transports/sim/fibers.hpp"
#include "transports/sim/network.hpp"
#include "transports/sim/sim_transport.hpp"
#include "transports/tcp/tcp.hpp"
#include "transports/udp/udp.hpp"
#include "transports/unix/unix.hpp"

#ifdef CHIPLOG_WITH_OFI
#include "transports/ofi/ofi.hpp"
#endif
#ifdef CHIPLOG_WITH_UCX
#include "transports/ucx/ucx.hpp"
#endif

namespace chiplog::conformance {

// Long: a case that runs into it fails, because it expects something else.
constexpr auto time_limit = std::chrono::seconds(60);
constexpr const char* died = "died";

// What became of ranks 0 and 1: "" if its body returned, `died`, or "kind of error: sentence".
using Outcomes = std::array<std::string, 2>;

template <Transport T>
using Body = std::function<void(T&, Rank)>;

// Rank 0 is the test's own process. `Make` gives a transport for a bootstrap.
template <Transport T, T (*make)(Bootstrap&)>
struct ForkedWorld {
  using Tested = T;

  [[noreturn]] static void die() {
    std::raise(SIGKILL);
    _exit(1);
  }

  static Outcomes run(const Body<T>& body) {
    testing::Pipe report;
    Outcomes outcomes{"", died};
    {
      const std::unique_ptr<Bootstrap> bootstrap = make_fork_bootstrap(2, time_limit);
      const Rank rank = bootstrap->rank();
      outcomes[0] = testing::outcome_of([&] {
        T transport = make(*bootstrap);
        body(transport, rank);
      });
      if (rank == 1) {
        report.write("." + outcomes[0]);
        _exit(0);
      }
    }
    const std::string reported = report.read_to_end();
    if (!reported.empty()) outcomes[1] = reported.substr(1);
    return outcomes;
  }

  // With more ranks than two: the outcomes of all, in their order.
  static std::vector<std::string> run_many(int ranks, const std::function<void(T&, Rank, int)>& body) {
    std::vector<testing::Pipe> reports(static_cast<std::size_t>(ranks));
    std::vector<std::string> outcomes(static_cast<std::size_t>(ranks), died);
    {
      const std::unique_ptr<Bootstrap> bootstrap = make_fork_bootstrap(ranks, time_limit);
      const Rank rank = bootstrap->rank();
      outcomes[0] = testing::outcome_of([&] {
        T transport = make(*bootstrap);
        body(transport, rank, ranks);
      });
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

inline ShmTransport make_shm(Bootstrap& bootstrap) { return {bootstrap, {}, time_limit}; }
// The smallest ring: everything wraps around and waits for room.
inline ShmTransport make_small_shm(Bootstrap& bootstrap) { return {bootstrap, {.ring_bytes = 65536}, time_limit}; }
inline UnixTransport make_unix(Bootstrap& bootstrap) { return make_unix_transport(bootstrap, {}, time_limit); }
inline TcpTransport make_tcp(Bootstrap& bootstrap) { return make_tcp_transport(bootstrap, {}, time_limit); }
inline TcpTransport make_busy_tcp(Bootstrap& bootstrap) {
  return make_tcp_transport(bootstrap, {.waiting = stream::Waiting::busy}, time_limit);
}
inline UdpTransport make_udp(Bootstrap& bootstrap) { return make_udp_transport(bootstrap, {}, time_limit); }
// A transport whose messages are single datagrams.
struct DatagramTransport : UdpTransport {
  static constexpr bool sends_datagrams = true;
  static constexpr std::size_t datagram_bytes = 5000;

  explicit DatagramTransport(UdpTransport&& transport) : UdpTransport(std::move(transport)) {}
  [[nodiscard]] Capabilities capabilities() const { return {.max_message_bytes = datagram_bytes}; }
};
inline DatagramTransport make_busy_datagrams(Bootstrap& bootstrap) {
  const UdpOptions options{.waiting = udp::Waiting::busy, .datagram_bytes = DatagramTransport::datagram_bytes};
  return DatagramTransport(make_udp_transport(bootstrap, options, time_limit));
}

#ifdef CHIPLOG_WITH_OFI
inline OfiTransport make_ofi_shm(Bootstrap& bootstrap) { return {bootstrap, {.provider = "shm"}, time_limit}; }
inline OfiTransport make_ofi_tcp(Bootstrap& bootstrap) {
  return {bootstrap, {.provider = "tcp", .domain = "lo"}, time_limit};
}
template <OfiTransport (*make)(Bootstrap&)>
struct OfiWorld : ForkedWorld<OfiTransport, make> {
  static std::string missing() {
    return testing::outcome_of([] { (void)ofi::library(); });
  }
};

// libfabric's shm takes a wrong key without a word: what is written with it is dropped, or never ends.
using OfiShmWorld = OfiWorld<make_ofi_shm>;
struct OfiTcpWorld : OfiWorld<make_ofi_tcp> {
  static constexpr bool refuses_wrong_keys = true;
};
#endif

#ifdef CHIPLOG_WITH_UCX
// UCX takes the key of a window that is gone: over shared memory the writer keeps the pages, over TCP the target's own
// process is asked to write there.
template <UcxTransport (*make)(Bootstrap&)>
struct UcxWorld : ForkedWorld<UcxTransport, make> {
  static std::string missing() {
    return testing::outcome_of([] { const ucx::Library library; });
  }
};

inline UcxTransport make_ucx_shm(Bootstrap& bootstrap) { return {bootstrap, {.tls = "shm"}, time_limit}; }
inline UcxTransport make_ucx_tcp(Bootstrap& bootstrap) {
  return {bootstrap, {.tls = "tcp", .devices = "lo"}, time_limit};
}
#endif

struct SimWorld {
  using Tested = sim::SimTransport;
  struct Death {};

  [[noreturn]] static void die() { throw Death{}; }

  static Outcomes run(const Body<Tested>& body) {
    Options options("sim", {{"S", "8KiB"}});
    const sim::Parameters parameters = sim::parse_parameters(options, 1, 2);
    sim::Fibers fibers;
    sim::Network network(parameters, fibers);
    Outcomes outcomes;
    const auto rank_body = [&](Rank rank) {
      return [&, rank] {
        std::string& outcome = outcomes[static_cast<std::size_t>(rank)];
        try {
          outcome = testing::outcome_of([&] {
            Tested transport(network, rank);
            body(transport, rank);
          });
        } catch (const Death&) {
          outcome = died;
        }
      };
    };
    fibers.run({rank_body(0), rank_body(1)});
    return outcomes;
  }
};

}  // namespace chiplog::conformance
