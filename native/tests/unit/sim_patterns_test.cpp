// Every pattern over the simulated transport gets exactly what was put in.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <sstream>

#include "simulated_run.hpp"

namespace chiplog {
namespace {

using testing::Json;
using testing::measure_ns;
using testing::median_ns;
using testing::request_for;
using testing::run_simulated;

struct LogGP {
  double L, o_s, o_r, g, G;  // ns, ns/B

  [[nodiscard]] std::string target() const {
    std::ostringstream text;
    text << "sim:L=" << L << "ns,o_s=" << o_s << "ns,o_r=" << o_r << "ns,g=" << g << "ns,G=" << G << "ns";
    return text.str();
  }
  [[nodiscard]] double bytes_ns(double bytes) const { return (std::max(bytes, 1.0) - 1.0) * G; }
  [[nodiscard]] double one_way_ns(double bytes) const { return L + o_s + o_r + bytes_ns(bytes); }
  [[nodiscard]] double prtt_ns(double n, double d, double bytes) const {
    return 2.0 * one_way_ns(bytes) + (n - 1.0) * std::max(o_s + d, g + bytes_ns(bytes));
  }
};

constexpr LogGP network{5000.0, 1000.0, 1500.0, 2000.0, 0.5};
constexpr double rounding_ns = 0.5;

std::string series(const std::string& pattern, int bytes, int train, const std::string& delay = "0") {
  return R"({"pattern":")" + pattern + R"(","message_bytes":)" + std::to_string(bytes) + R"(,"train":)" +
         std::to_string(train) + R"(,"delay_ns":)" + delay + "}";
}

class PrttTest : public ::testing::TestWithParam<int> {};

TEST_P(PrttTest, OfOneMessageIsTheRoundTrip) {
  EXPECT_NEAR(measure_ns(network.target(), series("prtt", GetParam(), 1)), network.prtt_ns(1, 0, GetParam()),
              rounding_ns);
}

TEST_P(PrttTest, OfATrainAddsTheGap) {
  for (const int train : {2, 10, 64}) {
    EXPECT_NEAR(measure_ns(network.target(), series("prtt", GetParam(), train)), network.prtt_ns(train, 0, GetParam()),
                rounding_ns);
  }
}

TEST_P(PrttTest, OfADelayedTrainAddsOverheadAndDelay) {
  for (const int delay : {100, 20'000}) {
    EXPECT_NEAR(measure_ns(network.target(), series("prtt", GetParam(), 10, std::to_string(delay))),
                network.prtt_ns(10, delay, GetParam()), rounding_ns);
  }
}

TEST_P(PrttTest, WaitsForAllMessagesAndAnswersOnce) {
  const auto run = run_simulated(network.target(), request_for(series("prtt", GetParam(), 10), 6));
  const auto counted = run.of_type("record").at(0).at("series").at(0);
  // Warm-up and 6 samples, one more to warm up the only chunk, and the payload check's two messages.
  const std::size_t warmup = GetParam() <= 32'768 ? 2 : 1;
  EXPECT_EQ(counted.at("warmup"), warmup);
  EXPECT_EQ(counted.at("messages"), 11 * (warmup + 6 + 1) + 2);
  EXPECT_EQ(counted.at("bytes"), GetParam() * (11 * (warmup + 6 + 1) + 2));
}

INSTANTIATE_TEST_SUITE_P(Sizes, PrttTest, ::testing::Values(0, 1, 1024, 65537));

TEST(PingPong, IsTwiceTheOneWayTime) {
  EXPECT_NEAR(measure_ns(network.target(), series("ping_pong", 1000, 1)), 2 * network.one_way_ns(1000), rounding_ns);
}

TEST(PingPong, WithALongDelayIsDelayAndBothOverheads) {
  EXPECT_NEAR(measure_ns(network.target(), series("ping_pong", 1000, 1, "50000")), 50'000 + 1000 + 1500, rounding_ns);
}

TEST(SendOverhead, IsThatOfEachSend) {
  EXPECT_NEAR(measure_ns(network.target(), series("send_overhead", 100, 1)), 1000, rounding_ns);
  EXPECT_NEAR(measure_ns(network.target(), series("send_overhead", 100, 8)), 8000, rounding_ns);
}

TEST(ReceiveOverhead, IsOneOverheadAMessageAndADelayBetweenThem) {
  EXPECT_NEAR(measure_ns(network.target(), series("receive_overhead", 100, 1, "40000")), 1500, rounding_ns);
  EXPECT_NEAR(measure_ns(network.target(), series("receive_overhead", 100, 8, "40000")), 8 * 1500 + 7 * 40'000,
              rounding_ns);
}

TEST(ReceiveOverhead, FindsTheMessagesThereAfterARoundTrip) {
  const auto run = run_simulated(network.target(), request_for(series("receive_overhead", 4096, 8, R"("rtt")")));
  const auto record = run.of_type("record").at(0).at("series").at(0);
  const double delay_ns = record.at("delay_ns").get<double>();
  EXPECT_NEAR(delay_ns, network.prtt_ns(1, 0, 4096), rounding_ns);
  EXPECT_NEAR(median_ns(record), 8 * 1500 + 7 * delay_ns, rounding_ns);
}

std::string to_peers(const std::string& pattern, int bytes, int peers, int train = 1) {
  std::string text = series(pattern, bytes, train);
  text.pop_back();
  return text + R"(,"peers":)" + std::to_string(peers) + "}";
}

class OneToManyTest : public ::testing::TestWithParam<int> {};

TEST_P(OneToManyTest, IsTheRoundTripAndAGapForEachFurtherPeer) {
  for (const int bytes : {1, 8192}) {
    const double spacing_ns = std::max(network.o_s, network.g + network.bytes_ns(bytes));
    EXPECT_NEAR(measure_ns(network.target() + ",ranks=9", to_peers("one_to_many", bytes, GetParam())),
                2 * network.one_way_ns(bytes) + (GetParam() - 1) * spacing_ns, rounding_ns);
  }
}

TEST_P(OneToManyTest, PostsOneSendToEachPeer) {
  EXPECT_NEAR(measure_ns(network.target() + ",ranks=9", to_peers("send_overhead", 64, GetParam(), GetParam())),
              GetParam() * network.o_s, rounding_ns);
}

INSTANTIATE_TEST_SUITE_P(Peers, OneToManyTest, ::testing::Values(1, 2, 5, 8));

TEST(OneToMany, CountsReadinessMessagesAndAnswersOfEachPeer) {
  const auto run = run_simulated(network.target() + ",ranks=5", request_for(to_peers("one_to_many", 100, 4), 6));
  const auto counted = run.of_type("record").at(0).at("series").at(0);
  EXPECT_EQ(counted.at("peers"), 4);
  EXPECT_EQ(counted.at("messages"), 12 * (2 + 6 + 1) + 2 * 4);
  EXPECT_EQ(counted.at("bytes"), 100 * (8 * (2 + 6 + 1) + 2 * 4));
}

TEST(OneToMany, StandsBesideOtherPatternsInOneRecord) {
  const auto run = run_simulated(network.target() + ",ranks=4",
                                 request_for(series("prtt", 8, 1) + "," + to_peers("one_to_many", 8, 3) + "," +
                                             to_peers("send_overhead", 8, 3, 6)));
  const auto record = run.of_type("record").at(0).at("series");
  EXPECT_NEAR(median_ns(record.at(0)), network.prtt_ns(1, 0, 8), rounding_ns);
  EXPECT_NEAR(median_ns(record.at(1)), network.prtt_ns(3, 0, 8), rounding_ns);
  EXPECT_NEAR(median_ns(record.at(2)), 6 * network.o_s, rounding_ns);
}

TEST(Pairs, DoNotDisturbEachOtherWhereEachHasItsOwnNetwork) {
  for (const int pairs : {1, 3, 4}) {
    std::string text = series("pairs", 1024, 1);
    text.pop_back();
    text += R"(,"pairs":)" + std::to_string(pairs) + "}";
    EXPECT_NEAR(measure_ns(network.target() + ",ranks=8", text), 2 * network.one_way_ns(1024), rounding_ns);
  }
}

TEST(Pairs, OneWayAreAWindowAndAnEmptyAnswerByMessages) {
  std::string text = series("pairs", 4096, 1);
  text.pop_back();
  text += R"(,"pairs":3,"direction":"one-way","window":20})";
  const auto run = run_simulated(network.target() + ",ranks=6", request_for(text, 6));
  const auto record = run.of_type("record").at(0).at("series").at(0);
  EXPECT_EQ(record.at("direction"), "one-way");
  EXPECT_EQ(record.at("batch"), 20);
  const double gap_ns = 2000 + network.bytes_ns(4096);
  EXPECT_NEAR(20 * median_ns(record), 19 * gap_ns + network.one_way_ns(4096) + network.one_way_ns(0), rounding_ns);
  EXPECT_EQ(record.at("bytes"), 4096 * 3 * 20 * (2 + 6 + 1) + 3 * 2 * 4096) << "each pair's payload is checked";
}

TEST(Flood, IsATrainAndAnEmptyAnswer) {
  const double gap_ns = 2000 + network.bytes_ns(4096);
  EXPECT_NEAR(measure_ns(network.target(), series("flood", 4096, 100)),
              99 * gap_ns + network.one_way_ns(4096) + network.one_way_ns(0), rounding_ns);
}

TEST(LateReceiver, TellsEagerFromSynchronisedSendsToTheByte) {
  const std::string target = network.target() + ",S=8KiB";
  EXPECT_NEAR(measure_ns(target, series("late_receiver", 8192, 1, "1000000")), 1000, rounding_ns);
  EXPECT_GE(measure_ns(target, series("late_receiver", 8193, 1, "1000000")), 1'000'000);
}

// A receiver that waits already has posted its receives, so a train is not slower for being synchronised.
TEST(SynchronisedSends, FollowLogGPWhereTheReceiverIsReady) {
  const std::string target = network.target() + ",S=1KiB";
  EXPECT_NEAR(measure_ns(target, series("prtt", 2000, 1)), network.prtt_ns(1, 0, 2000), rounding_ns);
  EXPECT_NEAR(measure_ns(target, series("prtt", 2000, 10)), network.prtt_ns(10, 0, 2000), rounding_ns);
  EXPECT_NEAR(measure_ns(target, series("prtt", 2000, 10, "30000")), network.prtt_ns(10, 30'000, 2000), rounding_ns);
}

TEST(SynchronisedSends, WithHandshakeAddItOnceEachWay) {
  const std::string target = network.target() + ",S=1KiB,handshake=sync";
  const double handshake_ns = 2 * (5000 + 1000 + 1500);
  EXPECT_NEAR(measure_ns(target, series("prtt", 2000, 1)), network.prtt_ns(1, 0, 2000) + 2 * handshake_ns, rounding_ns);
}

// The NIC is still busy with the last message of the sample before when its answer is there already.
TEST(Samples, BeginOnAnIdleNetworkHoweverLongTheGap) {
  constexpr LogGP slow{100.0, 10.0, 10.0, 50'000.0, 0.0};
  EXPECT_NEAR(measure_ns(slow.target(), series("prtt", 1, 1)), slow.prtt_ns(1, 0, 1), rounding_ns);
}

TEST(Batches, TimeManyOperationsWhereOneIsTooShortForTheClock) {
  constexpr LogGP fast{10.0, 5.0, 5.0, 0.0, 0.0};
  const auto run = run_simulated(fast.target(), request_for(series("ping_pong", 1, 1) + "," + series("prtt", 1, 2) +
                                                            "," + series("send_overhead", 1, 2)));
  const auto record = run.of_type("record").at(0).at("series");
  EXPECT_EQ(record.at(0).at("batch"), 3);  // of 40 ns each
  EXPECT_DOUBLE_EQ(median_ns(record.at(0)), 40.0);
  EXPECT_EQ(record.at(0).at("samples_ns").at(0), 120);
  EXPECT_EQ(record.at(1).at("batch"), 3);  // of 45 ns each
  EXPECT_DOUBLE_EQ(median_ns(record.at(1)), 45.0);
  EXPECT_EQ(record.at(2).at("batch"), 2) << "posts of 10 ns each, one by one as far as the clock allows";
  EXPECT_DOUBLE_EQ(median_ns(record.at(2)), 10.0);
}

TEST(Noise, LeavesTheMedianWhereItWas) {
  const double truth_ns = network.prtt_ns(1, 0, 1000);
  const double median =
      measure_ns(network.target() + ",noise=0.05,outliers=0.01,seed=3", series("prtt", 1000, 1), 20'000);
  EXPECT_NEAR(median / truth_ns, 1.0, 0.002);
}

TEST(Noise, HasTheSpreadAndTheOutliersThatWereAskedFor) {
  const auto run = run_simulated(network.target() + ",noise=0.05,outliers=0.01,seed=3",
                                 request_for(series("prtt", 1000, 1), 20'000));
  const double truth_ns = network.prtt_ns(1, 0, 1000);
  int outliers = 0;
  double sum_of_squares = 0.0;
  const auto samples = run.of_type("record").at(0).at("series").at(0).at("samples_ns").get<std::vector<double>>();
  for (const double sample : samples) {
    if (sample > 5 * truth_ns) {
      ++outliers;
    } else {
      sum_of_squares += std::pow(std::log(sample / truth_ns), 2);
    }
  }
  EXPECT_NEAR(outliers, 200, 60);
  EXPECT_NEAR(std::sqrt(sum_of_squares / double(samples.size() - size_t(outliers))), 0.05, 0.002);
}

// Taken before the network knew anything but LogGP.
TEST(Noise, IsTheSameSampleForSampleInEveryVersion) {
  const auto run =
      run_simulated("sim:noise=0.05,outliers=0.1,seed=3,ranks=8",
                    request_for(series("prtt", 4096, 1) + "," + series("prtt", 4096, 10) + "," +
                                    to_peers("one_to_many", 4096, 5) + "," + to_peers("send_overhead", 4096, 5, 5),
                                4));
  const auto record = run.of_type("record").at(0).at("series");
  using Samples = std::vector<int>;
  EXPECT_EQ(record.at(0).at("samples_ns").get<Samples>(), (Samples{18783, 173699, 19075, 17587, 18666, 18341}));
  EXPECT_EQ(record.at(1).at("samples_ns").get<Samples>(), (Samples{52604, 523161, 51952, 580106, 558001, 54461}));
  EXPECT_EQ(record.at(2).at("samples_ns").get<Samples>(), (Samples{32854, 31472, 30735, 351184, 35554, 30611}));
  EXPECT_EQ(record.at(3).at("samples_ns").get<Samples>(), (Samples{4749, 5051, 5003, 5016, 5124, 4364}));
}

// A chunk's own warm-up draws noise: were chunks as many as real time says, a busy machine would give other samples.
TEST(Noise, DoesNotDependOnHowLongTheSimulationTakes) {
  constexpr int train = 100'000;
  const auto run = run_simulated(network.target() + ",noise=0.05", request_for(series("flood", 1, train), 60));
  const Json counted = run.of_type("record").at(0).at("series").at(0);
  EXPECT_EQ(counted.at("messages"), (train + 1) * (2 + 60 + 1) + 2) << "one chunk, though it takes seconds";
}

// The six rows of the published LogGP table, in µs and µs/B, and the gap at a size of each.
struct GoldenRow {
  const char* network;
  const char* target;
  int bytes;
  double overhead_us;
  double gap_us;
};

// The table prints six digits.
constexpr double printed_precision_ns = 0.51;

class GoldenTable : public ::testing::TestWithParam<GoldenRow> {};

TEST_P(GoldenTable, ComesBackFromTheSimulation) {
  const GoldenRow& row = GetParam();
  const auto run =
      run_simulated(row.target, request_for(series("prtt", row.bytes, 1) + "," + series("prtt", row.bytes, 1001) + "," +
                                            series("prtt", row.bytes, 1001, R"("rtt")")));
  const auto record = run.of_type("record").at(0).at("series");
  const double one_ns = median_ns(record.at(0));
  EXPECT_NEAR((median_ns(record.at(1)) - one_ns) / 1000, std::max(row.gap_us, row.overhead_us) * 1e3,
              printed_precision_ns);
  EXPECT_NEAR((median_ns(record.at(2)) - one_ns) / 1000 - record.at(2).at("delay_ns").get<double>(),
              row.overhead_us * 1e3, 0.06);
}

INSTANTIATE_TEST_SUITE_P(
    Rows, GoldenTable,
    ::testing::Values(GoldenRow{"TCP", "sim:L=45.74us,o=3.46us,g=0.915us,G=0.00849us", 60000, 3.46, 510.307},
                      GoldenRow{"SCI", "sim:L=5.48us,o=6.10us,g=7.78us,G=0.0045us,change=12288:g=13.34us:G=0.0037us",
                                12288, 6.10, 63.0715},
                      GoldenRow{"SCI", "sim:L=5.48us,o=6.10us,g=7.78us,G=0.0045us,change=12288:g=13.34us:G=0.0037us",
                                12289, 6.10, 58.8056},
                      GoldenRow{"OFED", "sim:L=5.96us,o=4.72us,g=5.14us,G=0.00073us,change=12288:g=21.39us:G=0.00103us",
                                12288, 4.72, 14.1095},
                      GoldenRow{"OFED", "sim:L=5.96us,o=4.72us,g=5.14us,G=0.00073us,change=12288:g=21.39us:G=0.00103us",
                                12289, 4.72, 34.0466},
                      GoldenRow{"GM", "sim:L=10.53us,o=1.27us,g=9.44us,G=0.0092us,change=32768:g=52.01us:G=0.0042us",
                                32768, 1.27, 310.896},
                      GoldenRow{"GM", "sim:L=10.53us,o=1.27us,g=9.44us,G=0.0092us,change=32768:g=52.01us:G=0.0042us",
                                32769, 1.27, 189.636}),
    [](const auto& row) { return std::string(row.param.network) + std::to_string(row.param.bytes); });

}  // namespace
}  // namespace chiplog
