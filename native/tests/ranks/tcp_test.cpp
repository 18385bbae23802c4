// Options of tcp.
#include "transports/tcp/tcp.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <string>

#include "bootstrap/bootstraps.hpp"
#include "bootstrap/meeting.hpp"
#include "processes.hpp"
#include "transports/tcp/local_address.hpp"

namespace chiplog::testing {
namespace {

constexpr auto patient = std::chrono::seconds(30);

// What became of rank 0.
template <class Body>
std::string run_ranks_of(int ranks, std::chrono::nanoseconds limit, const Body& body) {
  const auto bootstrap = make_fork_bootstrap(ranks, patient);
  const bool child = bootstrap->rank() != 0;
  std::string outcome = outcome_of([&] {
    TcpTransport transport = make_tcp_transport(*bootstrap, {}, limit);
    body(*bootstrap, transport);
  });
  if (child) _exit(outcome.empty() ? 0 : 1);
  return outcome;
}

std::string make_tcp_with(const TcpOptions& options, std::string& options_json) {
  return run_ranks_of(1, patient, [&](Bootstrap& bootstrap, TcpTransport&) {
    options_json = make_tcp_transport(bootstrap, options, patient).options_json();
  });
}

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

TEST(TcpTransport, BindsToAnAddressAnInterfaceOrANetwork) {
  for (const std::string bind : {"127.0.0.1", "lo", "127.0.0.0/8", "localhost", "127.1.2.3"}) {
    std::string json;
    EXPECT_EQ(make_tcp_with({.bind = bind}, json), "") << bind;
    EXPECT_TRUE(contains(json, R"("poll":"block")")) << json;
  }
  EXPECT_EQ(local_address_for("lo"), "127.0.0.1");
  EXPECT_EQ(local_address_for("127.0.0.0/8"), "127.0.0.1");
}

TEST(TcpTransport, NamesTheOptionThatDoesNotFitThisHost) {
  // Addresses and a network for documentation: no host has them.
  for (const std::string bind : {"198.51.100.7", "198.51.100.0/24", "198.51.100.0/33", "no.such.host.invalid"}) {
    std::string json;
    const std::string outcome = make_tcp_with({.bind = bind}, json);
    EXPECT_EQ(kind_of(outcome), "UsageError") << outcome;
    EXPECT_TRUE(contains(outcome, "198.51.100") || contains(outcome, "no.such.host")) << outcome;
  }
  const FileDescriptor taken = listen_at(resolve("127.0.0.1", 0));
  const auto port = static_cast<std::uint16_t>(port_of(local_address(taken.get())));
  std::string json;
  EXPECT_TRUE(contains(make_tcp_with({.port = port}, json), "'port'"));
}

TEST(TcpTransport, SaysWhichOptionsAreInForce) {
  std::string json;
  const std::string outcome = run_ranks_of(2, patient, [&](Bootstrap& bootstrap, TcpTransport&) {
    const TcpOptions options{.nodelay = false, .sndbuf = 100'000, .rcvbuf = 50'000};
    json = make_tcp_transport(bootstrap, options, patient).options_json();
    bootstrap.barrier();
  });
  EXPECT_EQ(outcome, "");
  // Linux doubles what is asked for, for its own book-keeping.
  EXPECT_TRUE(contains(json, R"("nodelay":false,"sndbuf_bytes":200000,"rcvbuf_bytes":100000,"buffers":"fixed")"))
      << json;
}

}  // namespace
}  // namespace chiplog::testing
