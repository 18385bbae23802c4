// LogGOPS over the simulated transport: overheads that grow with the message, and slopes that change without a jump.

#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "chiplog/error.hpp"
#include "simulated_run.hpp"
#include "transports/sim/parameters.hpp"

namespace chiplog {
namespace {

using testing::Json;
using testing::measure_ns;
using testing::median_ns;
using testing::request_for;
using testing::run_simulated;

struct LogGOPS {
  double L, o_s, o_r, g, G, O_s, O_r;  // ns, ns/B

  [[nodiscard]] std::string target() const {
    std::ostringstream text;
    text << "sim:L=" << L << "ns,o_s=" << o_s << "ns,o_r=" << o_r << "ns,g=" << g << "ns,G=" << G << "ns,O_s=" << O_s
         << "ns,O_r=" << O_r << "ns";
    return text.str();
  }
  static double further(double bytes) { return std::max(bytes, 1.0) - 1.0; }
  [[nodiscard]] double send_ns(double bytes) const { return o_s + further(bytes) * O_s; }
  [[nodiscard]] double receive_ns(double bytes) const { return o_r + further(bytes) * O_r; }
  [[nodiscard]] double one_way_ns(double bytes) const {
    return send_ns(bytes) + L + further(bytes) * G + receive_ns(bytes);
  }
  [[nodiscard]] double step_ns(double d, double bytes) const {
    return std::max({send_ns(bytes) + d, g + further(bytes) * G, receive_ns(bytes)});
  }
  [[nodiscard]] double prtt_ns(double n, double d, double bytes) const {
    return 2.0 * one_way_ns(bytes) + (n - 1.0) * step_ns(d, bytes);
  }
};

// Each of the three costs of a byte is the largest in one of them.
constexpr LogGOPS wire{5000.0, 1000.0, 1500.0, 2000.0, 0.5, 0.1, 0.2};
constexpr LogGOPS sender{5000.0, 1000.0, 1500.0, 2000.0, 0.1, 0.5, 0.2};
constexpr LogGOPS receiver{5000.0, 1000.0, 1500.0, 2000.0, 0.1, 0.2, 0.5};
constexpr double rounding_ns = 0.51;  // to a nanosecond, after sums of picoseconds

std::string series(const std::string& pattern, int bytes, int train, const std::string& delay = "0") {
  return R"({"pattern":")" + pattern + R"(","message_bytes":)" + std::to_string(bytes) + R"(,"train":)" +
         std::to_string(train) + R"(,"delay_ns":)" + delay + "}";
}

class SimLogGOPS : public ::testing::TestWithParam<std::tuple<LogGOPS, int>> {
 protected:
  [[nodiscard]] const LogGOPS& truth() const { return std::get<0>(GetParam()); }
  [[nodiscard]] int bytes() const { return std::get<1>(GetParam()); }
  [[nodiscard]] double measured_ns(const std::string& pattern, int train, const std::string& delay = "0") const {
    return measure_ns(truth().target(), series(pattern, bytes(), train, delay));
  }
};

TEST_P(SimLogGOPS, TrainsAreAsLongAsTheSlowestOfSenderWireAndReceiverMakesThem) {
  for (const int train : {1, 2, 10, 64}) {
    EXPECT_NEAR(measured_ns("prtt", train), truth().prtt_ns(train, 0, bytes()), rounding_ns) << train;
  }
}

TEST_P(SimLogGOPS, DelaysAddToTheSendersShareOfTheStep) {
  for (const int delay : {100, 20'000, 200'000}) {
    EXPECT_NEAR(measured_ns("prtt", 10, std::to_string(delay)), truth().prtt_ns(10, delay, bytes()), rounding_ns);
  }
}

TEST_P(SimLogGOPS, PingPongHidesADelayBehindTheAnswer) {
  const double received_ns = truth().receive_ns(bytes());
  for (const int delay : {0, 1000, 500'000}) {
    const double answered_ns =
        std::max(2.0 * truth().one_way_ns(bytes()) - received_ns, truth().send_ns(bytes()) + delay);
    EXPECT_NEAR(measured_ns("ping_pong", 1, std::to_string(delay)), answered_ns + received_ns, rounding_ns) << delay;
  }
}

TEST_P(SimLogGOPS, OverheadsGrowWithTheMessage) {
  EXPECT_NEAR(measured_ns("send_overhead", 4), 4 * truth().send_ns(bytes()), rounding_ns);
  EXPECT_NEAR(measured_ns("receive_overhead", 1, "500000"), truth().receive_ns(bytes()), rounding_ns);
  EXPECT_NEAR(measured_ns("receive_overhead", 8, "500000"), 8 * truth().receive_ns(bytes()) + 7 * 500'000, rounding_ns);
  EXPECT_NEAR(measure_ns(truth().target() + ",S=1GiB", series("late_receiver", bytes(), 1, "1000000")),
              truth().send_ns(bytes()), rounding_ns);
}

TEST_P(SimLogGOPS, FloodIsATrainAndAnEmptyAnswer) {
  EXPECT_NEAR(measured_ns("flood", 100),
              truth().one_way_ns(bytes()) + 99 * truth().step_ns(0, bytes()) + truth().one_way_ns(0), rounding_ns);
}

TEST_P(SimLogGOPS, HandshakesAreOfShortMessages) {
  const double handshake_ns = 2 * (5000 + 1000 + 1500);
  const double slowed_ns = bytes() > 1024 ? 2 * handshake_ns : 0.0;
  EXPECT_NEAR(measure_ns(truth().target() + ",S=1KiB,handshake=sync", series("prtt", bytes(), 1)),
              truth().prtt_ns(1, 0, bytes()) + slowed_ns, rounding_ns);
  EXPECT_NEAR(measure_ns(truth().target() + ",S=1KiB", series("prtt", bytes(), 10)), truth().prtt_ns(10, 0, bytes()),
              rounding_ns);
}

INSTANTIATE_TEST_SUITE_P(Machines, SimLogGOPS,
                         ::testing::Combine(::testing::Values(wire, sender, receiver),
                                            ::testing::Values(0, 1, 1024, 65537)));

TEST(SimLogGOPSWrites, CostTheTargetNoTimePerByte) {
  const auto write_ns = [&](const LogGOPS& truth) {
    std::string text = series("prtt", 65537, 1);
    text.pop_back();
    return measure_ns(truth.target(), text + R"(,"operation":"rdma-write"})");
  };
  LogGOPS no_receive = wire;
  no_receive.o_r = no_receive.O_r = 0.0;
  EXPECT_NEAR(write_ns(wire), no_receive.prtt_ns(1, 0, 65537), rounding_ns);
}

double half_round_trip_ns(const std::string& target, int bytes) {
  return measure_ns(target, series("prtt", bytes, 1)) / 2.0;
}

TEST(SimSlopes, ChangeWithoutAJumpOfAnyTime) {
  const std::string below = wire.target();
  const std::string target = below + ",slope=8KiB:G=0.3ns:O_s=0.05ns,slope=64KiB:O_r=0.1ns";
  for (const auto& [pattern, train, delay] : {std::tuple{"prtt", 1, "0"},
                                              {"prtt", 10, "0"},
                                              {"prtt", 10, "100000"},
                                              {"send_overhead", 1, "0"},
                                              {"receive_overhead", 1, "500000"}}) {
    const auto at_ns = [&](const std::string& of, int bytes) {
      return measure_ns(of, series(pattern, bytes, train, delay));
    };
    EXPECT_NEAR(at_ns(target, 8192), at_ns(below, 8192), rounding_ns) << pattern;
    EXPECT_NEAR(at_ns(target, 8193), at_ns(below, 8192), 10.0) << "at most a byte's time of each message: " << pattern;
    EXPECT_NEAR(at_ns(target, 65537), at_ns(target, 65536), 10.0) << pattern;
  }
  EXPECT_NEAR(half_round_trip_ns(target, 65536) - half_round_trip_ns(target, 8192), (65536 - 8192) * 0.55, 1.0);
  EXPECT_NEAR(half_round_trip_ns(target, 131072) - half_round_trip_ns(target, 65536), 65536 * 0.45, 1.0);
}

sim::Parameters parameters_of(const std::string& target) {
  Options options = parse_target(target);
  return sim::parse_parameters(options, 0, 2);
}

TEST(SimSlopes, MayStandOnBothSidesOfAProtocolChange) {
  const auto parameters =
      parameters_of("sim:L=5us,o=1us,g=3us,G=0.5ns,change=8KiB:L=9us,slope=4KiB:G=0.4ns,slope=64KiB:G=0.3ns");
  ASSERT_EQ(parameters.changes.size(), 3U);
  EXPECT_EQ(parameters.changes[0].border, sim::Border::slope);
  EXPECT_EQ(parameters.changes[1].border, sim::Border::protocol);
  EXPECT_NEAR(parameters.protocol(4097).L_ns, 5000 + 4095 * 0.1, 1e-6);
  EXPECT_NEAR(parameters.protocol(4097).g_ns, 3000 + 4095 * 0.1, 1e-6);
  EXPECT_NEAR(parameters.protocol(8193).L_ns, 9000, 1e-6);
  EXPECT_NEAR(parameters.protocol(8193).G_ns, 0.4, 1e-12);
  EXPECT_NEAR(parameters.protocol(65537).L_ns, 9000 + 65535 * 0.1, 1e-6);
}

TEST(SimSlopes, AreRefusedWhereTheLinesMeetOnlyWithANegativeConstant) {
  EXPECT_NO_THROW((void)parameters_of("sim:L=5us,g=9us,G=0.5ns,slope=10001:G=1ns")) << "L is exactly 0 above";
  for (const char* target : {"sim:L=5us,g=9us,G=0.5ns,slope=64KiB:G=0.9ns", "sim:o=1us,O=0.1ns,slope=64KiB:O_s=0.9ns",
                             "sim:L=9us,g=1us,G=0.5ns,slope=4KiB:G=0.9ns", "sim:slope=4KiB:L=9us", "sim:slope=4KiB",
                             "sim:slope=4KiB:G=0.1ns,change=4096:L=9us", "sim:R_C=1GB/s,slope=4KiB:G=0.1ns",
                             "sim:R_C=1GB/s,O=1ns", "sim:f=3,O_s=1ns", "sim:slope=4KiB:R_C=1GB/s"}) {
    EXPECT_THROW((void)parameters_of(target), UsageError) << target;
  }
}

TEST(SimLogGOPSHeader, NamesTheTruth) {
  const auto run = run_simulated("sim:O_s=0.1ns,O_r=0.2ns,slope=8KiB:G=0.25ns", request_for(series("prtt", 8, 1)));
  const Json& options = run.header().at("options");
  EXPECT_EQ(options.at("O_s_ns_per_byte"), 0.1);
  EXPECT_EQ(options.at("changes").at(0).at("border"), "slope");
}

}  // namespace
}  // namespace chiplog
