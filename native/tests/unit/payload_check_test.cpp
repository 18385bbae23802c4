// The untimed pass that compares payloads sees damage on every connection that a record goes over.

#include <gtest/gtest.h>

#include <cstdio>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "chiplog/error.hpp"
#include "core/record_sink.hpp"
#include "core/request_source.hpp"
#include "core/session.hpp"
#include "patterns/make_endpoint.hpp"
#include "simulated_run.hpp"
#include "transports/sim/in_process_bootstrap.hpp"
#include "transports/sim/sim_transport.hpp"
#include "transports/sim/virtual_clock.hpp"

namespace chiplog {
namespace {

// A simulated transport that changes one bit of what one rank receives from another.
class DamagingTransport : public sim::SimTransport {
 public:
  struct Damage {
    Rank from;
    Rank to;
  };

  DamagingTransport(sim::Network& network, Rank rank, const std::optional<Damage>& damage)
      : SimTransport(network, rank), rank_(rank), damage_(damage) {}

  std::size_t recv(Rank peer, Buffer& buffer, std::size_t capacity_bytes) {
    const std::size_t bytes = SimTransport::recv(peer, buffer, capacity_bytes);
    if (bytes > 0 && damage_ && damage_->from == peer && damage_->to == rank_) {
      buffer.data()[bytes / 2] ^= std::byte{0x10};
    }
    return bytes;
  }

 private:
  Rank rank_;
  std::optional<Damage> damage_;
};

// A simulated transport whose writes from rank 0 land with a wrong first byte, which is right after so many looks.
class LateTransport : public sim::SimTransport {
 public:
  struct FirstByte {
    int looks_until_right;
    std::byte* wrong = nullptr;
  };

  LateTransport(sim::Network& network, Rank rank, FirstByte& first)
      : SimTransport(network, rank), network_(network), rank_(rank), first_(first) {}

  void post_write(const Transfer& transfer) {
    std::byte& sent = transfer.buffer.data()[transfer.buffer_offset];
    if (rank_ == 0) sent ^= flipped;
    SimTransport::post_write(transfer);
    if (rank_ == 0) sent ^= flipped;
    if (rank_ == 0) {
      first_.wrong = network_.window_of(transfer.peer, transfer.window.number) + transfer.window_offset;
    }
  }
  void progress() {
    if (first_.wrong != nullptr && --first_.looks_until_right == 0) *first_.wrong ^= flipped;
  }

 private:
  static constexpr std::byte flipped{0x10};

  sim::Network& network_;
  Rank rank_;
  FirstByte& first_;
};

// What rank 0 says of a run of one request on so many ranks, whose transports are made from `fault`: "" if all is well.
template <class Faulty, class Fault>
std::string outcome_over(int ranks, const std::string& series, Fault& fault) {
  std::FILE* requests = std::tmpfile();
  std::FILE* records = std::tmpfile();
  std::fputs(testing::request_for(series, 3).c_str(), requests);
  std::fflush(requests);
  std::rewind(requests);
  RequestSource source(fileno(requests));
  RecordSink sink(fileno(records));
  const RunSettings settings;
  Options options("sim", {});
  const sim::Parameters parameters = sim::parse_parameters(options, 0, ranks);
  sim::Fibers fibers;
  sim::Network network(parameters, fibers);
  sim::Blackboard board(ranks);
  std::vector<std::function<void()>> bodies;
  for (Rank rank = 0; rank < ranks; ++rank) {
    bodies.emplace_back([&, rank] {
      sim::InProcessBootstrap bootstrap(fibers, board, rank);
      const auto endpoint = make_endpoint(
          bootstrap, settings.time_limit, [&] { return Faulty(network, rank, fault); },
          [&] { return sim::VirtualClock(network, rank, 1, 2); });
      if (rank == 0) {
        (void)lead_session(*endpoint, bootstrap, settings, {}, source, sink);
      } else {
        follow_session(*endpoint, bootstrap, settings, {});
      }
    });
  }
  std::string said;
  try {
    fibers.run(std::move(bodies));
  } catch (const Corrupt& error) {
    said = error.what();
  }
  std::fclose(requests);
  std::fclose(records);
  return said;
}

std::string outcome(int ranks, const std::string& series, const std::optional<DamagingTransport::Damage>& damage) {
  return outcome_over<DamagingTransport>(ranks, series, damage);
}

std::string outcome_of_writes(LateTransport::FirstByte first) {
  return outcome_over<LateTransport>(2, R"({"pattern":"ping_pong","operation":"rdma-write","message_bytes":1000})",
                                     first);
}

constexpr const char* three_pairs = R"({"pattern":"pairs","message_bytes":1000,"pairs":3})";
constexpr const char* two_pairs = R"({"pattern":"pairs","message_bytes":1000,"pairs":2})";

TEST(PayloadCheck, PassesWhatArrivesAsItWasSent) { EXPECT_EQ(outcome(6, three_pairs, std::nullopt), ""); }

// Of six ranks, pair 2 is 2 and 5.
TEST(PayloadCheck, SeesDamageOnTheWayToTheServerOfPair2) {
  EXPECT_EQ(outcome(6, three_pairs, {{.from = 2, .to = 5}}).substr(0, 51),
            "a message of 1000 bytes arrived damaged at rank 5: ");
}

TEST(PayloadCheck, SeesDamageOnTheWayBackFromPair2) {
  EXPECT_EQ(outcome(6, three_pairs, {{.from = 5, .to = 2}}).substr(0, 51),
            "a message of 1000 bytes arrived damaged at rank 2: ");
}

TEST(PayloadCheck, LooksAtThePairsThatAreMeasuredOnly) { EXPECT_EQ(outcome(6, two_pairs, {{.from = 5, .to = 2}}), ""); }

TEST(PayloadCheck, SeesDamageFromEveryPeer) {
  EXPECT_NE(outcome(4, R"({"pattern":"one_to_many","message_bytes":9,"peers":3})", {{.from = 3, .to = 0}}), "");
}

// The receiver of a write sees its last byte only, which need not have landed last.
TEST(PayloadCheck, WaitsForBytesOfAWriteThatLandAfterItsLast) {
  EXPECT_EQ(outcome_of_writes({.looks_until_right = 1000}), "");
}

TEST(PayloadCheck, SeesAByteOfAWriteThatStaysWrong) {
  constexpr int never = std::numeric_limits<int>::max();
  const std::string said = outcome_of_writes({.looks_until_right = never});
  EXPECT_EQ(said.substr(0, 64), "a message of 1000 bytes arrived damaged at rank 1: byte 0 of 999");
}

TEST(PayloadCheck, CountsTwoMessagesAPair) {
  const auto run = testing::run_simulated("sim:ranks=6", testing::request_for(three_pairs, 4));
  const auto counted = run.of_type("record").at(0).at("series").at(0);
  // 2 warm-up and 4 samples and one unused, each 2 a pair and 7 to begin at once.
  EXPECT_EQ(counted.at("bytes"), 1000 * (6 * (2 + 4 + 1) + 6));
  EXPECT_EQ(counted.at("messages"), (6 + 7) * (2 + 4 + 1) + 6);
}

}  // namespace
}  // namespace chiplog
