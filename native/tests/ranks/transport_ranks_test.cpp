// What transports do beyond two ranks that behave: many ranks, silent ranks, options.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <stdexcept>
#include <string>
#include <vector>

#include "bootstrap/bootstraps.hpp"
#include "bootstrap/meeting.hpp"
#include "core/payload.hpp"
#include "media.hpp"
#include "presence.hpp"
#include "processes.hpp"
#include "transports/tcp/local_address.hpp"
#include "transports/tcp/tcp.hpp"

namespace chiplog::testing {
namespace {

constexpr auto patient = std::chrono::seconds(30);
constexpr auto impatient = std::chrono::milliseconds(200);

// What became of rank 0.
template <class Medium, class Body>
std::string run_ranks_of(int ranks, Limit limit, const Body& body) {
  const auto bootstrap = make_fork_bootstrap(ranks, patient);
  const bool child = bootstrap->rank() != 0;
  std::string outcome = outcome_of([&] {
    auto transport = Medium::make(*bootstrap, limit);
    body(*bootstrap, transport);
  });
  if (child) _exit(outcome.empty() ? 0 : 1);
  return outcome;
}

template <class Medium>
class EveryTransport : public ::testing::Test {
 protected:
  void SetUp() override { CHIPLOG_SKIP_UNLESS_PRESENT(Medium) }
};

using Media = ::testing::Types<
#ifdef CHIPLOG_WITH_OFI
    OfiShm, OfiTcp,
#endif
#ifdef CHIPLOG_WITH_UCX
    UcxShm, UcxTcp,
#endif
    Shm, Unix, Tcp, BusyTcp, Udp>;
TYPED_TEST_SUITE(EveryTransport, Media);

// More ranks than this machine may have cores; in each step every rank has one peer.
TYPED_TEST(EveryTransport, LetsEveryTwoOfSixRanksExchangeMessages) {
  constexpr int ranks = 6;
  constexpr std::size_t bytes = 20'000;
  const std::string outcome = run_ranks_of<TypeParam>(ranks, patient, [](Bootstrap& bootstrap, auto& transport) {
    auto buffer = transport.make_buffer(bytes);
    for (int step = 0; step < ranks; ++step) {
      const Rank self = bootstrap.rank();
      const Rank peer = (step + ranks - self) % ranks;
      if (peer == self) continue;
      const auto salt = [&](Rank from) { return static_cast<std::uint64_t>(ranks * step + from); };
      for (const Rank sender : {std::min(self, peer), std::max(self, peer)}) {
        if (sender == self) {
          fill_payload({buffer.data(), bytes}, salt(self));
          transport.send(peer, buffer, bytes);
        } else {
          const std::size_t received = transport.recv(peer, buffer, bytes);
          const auto mismatch = find_mismatch({buffer.data(), received}, salt(peer));
          if (received != bytes || mismatch) throw std::runtime_error(mismatch.value_or("wrong length"));
        }
      }
    }
    for (const std::string& done : bootstrap.gather("done")) {
      if (done != "done") throw std::runtime_error("a rank is not done");
    }
  });
  EXPECT_EQ(outcome, "");
}

TYPED_TEST(EveryTransport, EndsTheWaitForASilentRank) {
  const std::string outcome = run_ranks_of<TypeParam>(2, impatient, [](Bootstrap& bootstrap, auto& transport) {
    auto buffer = transport.make_buffer(1);
    if (bootstrap.rank() == 1) bootstrap.broadcast({});
    transport.recv(1, buffer, 1);
  });
  EXPECT_EQ(outcome, "TimedOut: no word from rank 1 within 0.2 s");
}

TYPED_TEST(EveryTransport, EndsTheWaitForARankThatTakesNothing) {
  const std::string outcome = run_ranks_of<TypeParam>(2, impatient, [](Bootstrap& bootstrap, auto& transport) {
    constexpr std::size_t bytes = std::size_t{1} << 20U;
    auto buffer = transport.make_buffer(bytes);
    if (bootstrap.rank() == 1) bootstrap.broadcast({});
    for (;;) transport.send(1, buffer, bytes);
  });
  EXPECT_EQ(outcome, "TimedOut: no word from rank 1 within 0.2 s");
}

TYPED_TEST(EveryTransport, IsOverOnceItHasFailed) {
  // Some notice only that nothing more comes.
  constexpr auto limit = std::chrono::seconds(1);
  const std::string outcome = run_ranks_of<TypeParam>(2, limit, [](Bootstrap& bootstrap, auto& transport) {
    auto buffer = transport.make_buffer(100);
    if (bootstrap.rank() == 1) {
      transport.send(0, buffer, 100);
      bootstrap.broadcast({});
    }
    const std::string first = outcome_of([&] { transport.recv(1, buffer, 10); });
    const std::string second = outcome_of([&] { transport.recv(1, buffer, 10); });
    throw std::runtime_error(kind_of(first) + ", then " + (second.empty() ? "a message" : "an error"));
  });
  EXPECT_EQ(outcome, "failure: Truncated, then an error");
}

std::string make_tcp_with(const TcpOptions& options, std::string& options_json) {
  return run_ranks_of<Tcp>(1, patient, [&](Bootstrap& bootstrap, TcpTransport&) {
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
  const std::string outcome = run_ranks_of<Tcp>(2, patient, [&](Bootstrap& bootstrap, TcpTransport&) {
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
