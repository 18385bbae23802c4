// What the transport over datagrams makes of a network that loses, doubles and reorders them.
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "../conformance/cases.hpp"
#include "bootstrap/bootstraps.hpp"
#include "core/payload.hpp"
#include "lossy_relay.hpp"
#include "processes.hpp"
#include "transports/tcp/mesh.hpp"
#include "transports/udp/udp.hpp"

namespace chiplog::testing {
namespace {

constexpr auto patient = std::chrono::seconds(30);
constexpr std::size_t datagram_bytes = 1400;
constexpr std::size_t window_bytes = 100'000;

// Two ranks, each with a transport whose datagrams go over a relay with these faults.
class LossyRanks {
 public:
  explicit LossyRanks(const Faults& faults) : bootstrap_(make_fork_bootstrap(2, patient)), rank_(bootstrap_->rank()) {
    auto beside = connect_over_tcp(*bootstrap_, {"udp", "127.0.0.1", "127.0.0.1"}, {}, patient);
    FileDescriptor datagrams = loopback_datagram_socket();
    const auto ports = bootstrap_->all_gather(std::to_string(port_of(local_address(datagrams.get()))));
    std::string relay_ports;
    if (rank_ == 0) {
      relay_ = std::make_unique<LossyRelay>(std::array{port(ports[0]), port(ports[1])}, faults);
      relay_ports = std::to_string(relay_->port_for(0)) + ' ' + std::to_string(relay_->port_for(1));
    }
    relay_ports = bootstrap_->broadcast(relay_ports);
    connect_to_port(datagrams, port(rank_ == 0 ? relay_ports : relay_ports.substr(relay_ports.find(' '))));

    auto shared =
        std::make_unique<udp::Shared>(udp::Shared{.waiting = udp::Waiting::block,
                                                  .time_limit = patient,
                                                  .run = 7,
                                                  .pacer = udp::Pacer(0.0, 0.0),
                                                  .spill = std::make_unique<std::byte[]>(udp::Shared::spill_bytes)});
    std::vector<std::unique_ptr<udp::Link>> links(2);
    const auto peer = static_cast<std::size_t>(1 - rank_);
    links[peer] = std::make_unique<udp::Link>(std::move(datagrams), std::move(beside[peer]), 1 - rank_, datagram_bytes,
                                              window_bytes, *shared);
    transport_ = std::make_unique<UdpTransport>(std::move(shared), std::move(links), "{}");
  }

  // Both ranks call it; on rank 0 what either complained of, empty if nothing. Rank 1 ends here.
  template <class Body>
  std::string run(const Body& body) {
    std::string outcome = outcome_of([&] {
      body(*transport_, rank_);
      transport_->flush();
    });
    for (const Counter& one : transport_->counters()) counted_[std::string(one.name)] = one.count;
    std::string told = outcome;
    for (const auto& [name, count] : counted_) told += '\n' + name + ' ' + std::to_string(count);
    const auto all = bootstrap_->gather(told);
    if (rank_ == 1) _exit(0);
    add_counts_of(all[1]);
    return outcome + all[1].substr(0, all[1].find('\n'));
  }

  // Of both ranks.
  [[nodiscard]] std::uint64_t counted(const std::string& name) const { return counted_.at(name); }

 private:
  static unsigned port(const std::string& text) { return static_cast<unsigned>(std::stoul(text)); }

  void add_counts_of(const std::string& told) {
    for (auto& [name, count] : counted_) {
      const std::size_t at = told.find('\n' + name + ' ');
      count += std::stoull(told.substr(at + name.size() + 2));
    }
  }

  std::unique_ptr<Bootstrap> bootstrap_;
  Rank rank_;
  std::unique_ptr<LossyRelay> relay_;
  std::unique_ptr<UdpTransport> transport_;
  std::map<std::string, std::uint64_t> counted_;
};

void exchange_some(UdpTransport& transport, Rank rank) {
  auto buffer = transport.make_buffer(20'000);
  for (const std::size_t bytes : {0U, 1U, 1400U, 1401U, 20'000U}) {
    for (int i = 0; i < 12; ++i) conformance::round_trip(transport, rank, buffer, bytes);
  }
  conformance::many_small_messages_may_be_in_flight(transport, rank);
}

TEST(UdpLoss, MessagesArriveWholeAndInOrderOverALossyNetwork) {
  LossyRanks ranks({.lost = 0.03, .duplicated = 0.03, .reordered = 0.03});
  EXPECT_EQ(ranks.run(exchange_some), "");
  EXPECT_GT(ranks.counted("lost"), 0U);
  EXPECT_GT(ranks.counted("duplicated"), 0U);
  EXPECT_GT(ranks.counted("reordered"), 0U);
  EXPECT_GE(ranks.counted("resent"), ranks.counted("lost"));
}

TEST(UdpLoss, NothingIsCountedWhereNothingHappens) {
  LossyRanks ranks({});
  EXPECT_EQ(ranks.run(exchange_some), "");
  for (const char* name : {"lost", "duplicated", "reordered", "resent"}) EXPECT_EQ(ranks.counted(name), 0U) << name;
}

// A question is asked while the receiver is away, and its answer finds nothing missing.
TEST(UdpLoss, NothingIsSentTwiceBecauseAReceiverIsSlow) {
  LossyRanks ranks({});
  EXPECT_EQ(ranks.run([](UdpTransport& transport, Rank rank) {
    auto buffer = transport.make_buffer(100);
    if (rank == 1) usleep(60'000);
    conformance::round_trip(transport, rank, buffer, 100);
  }),
            "");
  EXPECT_EQ(ranks.counted("resent"), 0U);
}

TEST(UdpLoss, DuplicatesAreCountedAndNotTakenForMessages) {
  LossyRanks ranks({.duplicated = 1.0});
  EXPECT_EQ(ranks.run(exchange_some), "");
  EXPECT_GT(ranks.counted("duplicated"), 300U);
  EXPECT_EQ(ranks.counted("lost"), 0U);
}

}  // namespace
}  // namespace chiplog::testing
