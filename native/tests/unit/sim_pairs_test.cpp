// k pairs over the simulated network take what the formulas of the max-rate family say.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <limits>
#include <sstream>

#include "simulated_run.hpp"
#include "transports/sim/node_nic.hpp"

namespace chiplog {
namespace {

using testing::Json;
using testing::median_ns;
using testing::request_for;
using testing::run_simulated;

constexpr std::array pairs_asked{1, 2, 3, 4, 5, 8};
constexpr std::array sizes_asked{0, 1, 1000, 65'537, 4'194'304};
constexpr double no_limit = std::numeric_limits<double>::infinity();

struct MaxRate {
  double s0;          // ns
  double R_Cb, R_Ci;  // bytes per second
  double R_N = no_limit;
  bool hidden = false;

  // s0 in parts, so that each of them counts.
  [[nodiscard]] std::string target() const {
    std::ostringstream text;
    text << "sim:ranks=16,L=" << 0.6 * s0 << "ns,o_s=" << 0.3 * s0 << "ns,o_r=" << 0.1 * s0 << "ns,g=1us";
    if (R_Ci == R_Cb) {
      text << ",R_C=" << R_Cb << "B/s";
    } else {
      text << ",R_Cb=" << R_Cb << "B/s,R_Ci=" << R_Ci << "B/s";
    }
    if (R_N < no_limit) text << ",R_N=" << R_N << "B/s";
    if (hidden) text << ",start-up=hidden";
    return text.str();
  }
  [[nodiscard]] double one_way_ns(double k, double bytes) const {
    if (hidden) return std::max(k * bytes / R_N * 1e9, s0 + bytes / R_Cb * 1e9);
    return s0 + k * bytes / std::min(R_N, R_Cb + (k - 1) * R_Ci) * 1e9;
  }
};

Json measure_pairs(const std::string& target) {
  std::ostringstream series;
  for (const int k : pairs_asked) {
    for (const int bytes : sizes_asked) {
      series << (series.tellp() > 0 ? "," : "") << R"({"pattern":"pairs","message_bytes":)" << bytes << R"(,"pairs":)"
             << k << "}";
    }
  }
  return run_simulated(target, request_for(series.str())).of_type("record").at(0).at("series");
}

class SimPairs : public ::testing::TestWithParam<MaxRate> {};

TEST_P(SimPairs, TakeWhatTheFormulaSays) {
  const Json measured = measure_pairs(GetParam().target());
  auto series = measured.begin();
  for (const int k : pairs_asked) {
    for (const int bytes : sizes_asked) {
      const double exact_ns = 2 * GetParam().one_way_ns(k, bytes);
      EXPECT_NEAR(median_ns(*series++), exact_ns, 0.51 + 1e-9 * exact_ns)
          << GetParam().target() << " k = " << k << ", " << bytes << " B";
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Postal, SimPairs, ::testing::Values(MaxRate{4000, 2e9, 2e9}));
INSTANTIATE_TEST_SUITE_P(OneRateAProcess, SimPairs,
                         ::testing::Values(MaxRate{4000, 2e9, 2e9, 7e9}, MaxRate{4000, 2e9, 2e9, 6e9},
                                           MaxRate{9000, 3.6e9, 3.6e9, 5.5e9}, MaxRate{1000, 5e9, 5e9, 4e9}));
INSTANTIATE_TEST_SUITE_P(AnotherRateForFurtherProcesses, SimPairs,
                         ::testing::Values(MaxRate{5100, 3.97e9, 2e9, 7e9}, MaxRate{2000, 1e9, 0.062e9, 1.2e9}));
INSTANTIATE_TEST_SUITE_P(HiddenStartUp, SimPairs,
                         ::testing::Values(MaxRate{8810, 4.58e9, 4.58e9, 6.29e9, true},
                                           MaxRate{4000, 2e9, 2e9, 7e9, true}));

TEST(SimPairsProtocols, ChangeTheirRatesWithTheSize) {
  const std::string target = "sim:ranks=8,L=2us,o=1us,R_C=1GB/s,R_N=6GB/s,change=8KiB:L=18us:R_C=4GB/s";
  const auto half_ns = [&](int pairs, int bytes) {
    return testing::measure_ns(target, R"({"pattern":"pairs","message_bytes":)" + std::to_string(bytes) +
                                           R"(,"pairs":)" + std::to_string(pairs) + "}") /
           2;
  };
  EXPECT_NEAR(half_ns(4, 8192), 4000 + 8192, 0.5);
  EXPECT_NEAR(half_ns(1, 8193), 20'000 + 8193 / 4.0, 0.5);
  EXPECT_NEAR(half_ns(4, 8193), 20'000 + 4 * 8193 / 6.0, 0.5);
}

TEST(SimPairsNoise, LeavesTheMedianOfTheSlowestPairWhereItWas) {
  const double exact_ns = 2 * (4000 + 8 * 65'536 / 7.0);
  const double median = testing::measure_ns("sim:ranks=16,L=2us,o=1us,R_C=2GB/s,R_N=7GB/s,noise=0.05,seed=3",
                                            R"({"pattern":"pairs","message_bytes":65536,"pairs":8})", 4000);
  EXPECT_NEAR(median / exact_ns, 1.0, 0.005);
}

using sim::Message;
using sim::NodeNic;

Message of_bytes(std::size_t bytes) {
  Message message;
  message.bytes = bytes;
  return message;
}

void run_dry(NodeNic& nic) {
  while (!nic.is_empty()) nic.advance();
}

// 1 GB/s for each and for the node: a byte a nanosecond.
TEST(NodeNic, SharesItselfAmongThoseThatSendAtTheTime) {
  NodeNic nic(1e9, 2);
  Message long_one = of_bytes(3000);
  Message short_one = of_bytes(1000);
  nic.add(0, {.message = &long_one, .earliest = 0, .gap = 0, .R_Cb = 1e9, .R_Ci = 1e9});
  nic.add(1, {.message = &short_one, .earliest = 500'000, .gap = 0, .R_Cb = 1e9, .R_Ci = 1e9});
  run_dry(nic);
  EXPECT_EQ(short_one.drained, 2'500'000U);  // 1000 B at half the rate, from 500 ns on
  EXPECT_EQ(long_one.drained, 4'000'000U);   // all of the rate before and after that
}

TEST(NodeNic, SendsTheMessagesOfOneProcessInTurnAndAGapApart) {
  NodeNic nic(10e9, 1);
  Message first = of_bytes(1000);
  Message second = of_bytes(1000);
  for (Message* one : {&first, &second}) {
    nic.add(0, {.message = one, .earliest = 0, .gap = 5'000'000, .R_Cb = 1e9, .R_Ci = 1e9});
  }
  run_dry(nic);
  EXPECT_EQ(first.drained, 1'000'000U);
  EXPECT_EQ(second.drained, 6'000'000U);
  EXPECT_EQ(nic.free_at(), 10'000'000U);
}

}  // namespace
}  // namespace chiplog
