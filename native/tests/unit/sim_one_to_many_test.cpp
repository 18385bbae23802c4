// RTT(p) and post times over the simulated network are those of LogfP's and LoP's formulas.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <sstream>

#include "chiplog/error.hpp"
#include "simulated_run.hpp"

namespace chiplog {
namespace {

using testing::Json;
using testing::median_ns;
using testing::request_for;
using testing::run_simulated;

constexpr double rounding_ns = 0.51;
constexpr std::array peers_asked{1, 2, 3, 5, 6, 7, 8, 9, 12, 13, 16};

struct LogfP {
  double L, o_min, o_max, o_r, g;  // ns
  int f;                           // 0: not given

  [[nodiscard]] std::string target() const {
    std::ostringstream text;
    text << "sim:ranks=17,L=" << L << "ns,o_min=" << o_min << "ns,o_r=" << o_r << "ns,g=" << g << "ns,G=0.25ns";
    if (o_max > 0) text << ",o_max=" << o_max << "ns";
    if (f > 0) text << ",f=" << f;
    return text.str();
  }
  [[nodiscard]] double overhead_ns(double p) const { return o_min + o_max / p; }
  // At s bytes, L and g are longer by (s-1)G.
  [[nodiscard]] double round_trip_ns(double p, double bytes) const {
    const double more_bytes_ns = (bytes - 1) * 0.25;
    const double ends = 2 * (L + more_bytes_ns) + 2 * o_r + overhead_ns(1);
    const double free = std::max(f, 1);
    if (p <= free) return ends + p * overhead_ns(p);
    return ends + overhead_ns(p) + std::max((p - 1) * overhead_ns(p), (p - free) * (g + more_bytes_ns));
  }
};

Json measure_over_peers(const std::string& target, int bytes, const std::string& posting = "normal") {
  std::ostringstream series;
  for (const int p : peers_asked) {
    series << (p == 1 ? "" : ",") << R"({"pattern":"one_to_many","posting":")" << posting << R"(","message_bytes":)"
           << bytes << R"(,"peers":)" << p << R"(},{"pattern":"send_overhead","posting":")" << posting
           << R"(","message_bytes":)" << bytes << R"(,"train":)" << p << R"(,"peers":)" << p << "}";
  }
  return run_simulated(target, request_for(series.str())).of_type("record").at(0).at("series");
}

void expect_logfp(const LogfP& truth, int bytes) {
  const Json measured = measure_over_peers(truth.target(), bytes);
  for (std::size_t i = 0; i < peers_asked.size(); ++i) {
    const int p = peers_asked[i];
    EXPECT_NEAR(median_ns(measured.at(2 * i)), truth.round_trip_ns(p, bytes), rounding_ns)
        << truth.target() << " p = " << p;
    EXPECT_NEAR(median_ns(measured.at(2 * i + 1)), p * truth.overhead_ns(p), rounding_ns)
        << truth.target() << " p = " << p;
  }
}

// The NIC begins with the first message of a list when all have been posted: p posts and the gaps come one after the
// other. To one peer a list is a send.
void expect_lists(const LogfP& truth, int bytes) {
  const Json measured = measure_over_peers(truth.target(), bytes, "list");
  for (std::size_t i = 0; i < peers_asked.size(); ++i) {
    const int p = peers_asked[i];
    const double more_bytes_ns = (bytes - 1) * 0.25;
    const double ends = 2 * (truth.L + more_bytes_ns) + 2 * truth.o_r + truth.overhead_ns(1);
    const double gaps = std::max(p - std::max(truth.f, 1), 0) * (truth.g + more_bytes_ns);
    EXPECT_NEAR(median_ns(measured.at(2 * i)), ends + p * truth.overhead_ns(p) + gaps, rounding_ns)
        << truth.target() << " p = " << p;
    EXPECT_NEAR(median_ns(measured.at(2 * i + 1)), p * truth.overhead_ns(p), rounding_ns)
        << truth.target() << " p = " << p;
  }
}

TEST(SimLists, OfLogfPWaitForAllPostsAndThenForTheGapsAfterTheFirstMessages) {
  for (const int f : {1, 3, 7, 20}) {
    expect_lists({5000, 180, 1600, 0, 5000, f}, 1);
    expect_lists({5000, 180, 1600, 0, 700, f}, 4096);
  }
}

TEST(SimLists, OfLogGPWaitForAllPostsAndThenForTheGaps) {
  expect_lists({5000, 1000, 0, 0, 2000, 0}, 1);
  expect_lists({5000, 1000, 0, 300, 2000, 0}, 8192);
  expect_lists({3000, 700, 0, 0, 100, 0}, 64);
}

class FreeMessages : public ::testing::TestWithParam<int> {};

TEST_P(FreeMessages, AreThoseOfLogfPWhereTheGapIsLong) { expect_logfp({5000, 180, 1600, 0, 5000, GetParam()}, 1); }

TEST_P(FreeMessages, AreThoseOfLogfPWhereTheLeastTimeAMessageIsElsewhere) {
  expect_logfp({2000, 180, 1600, 0, 1000, GetParam()}, 8);
}

TEST_P(FreeMessages, DoNotShowWhereTheGapIsWithinTheOverhead) {
  expect_logfp({5000, 200, 1600, 100, 150, GetParam()}, 1);
}

TEST_P(FreeMessages, AreFreeOfTheirBytesToo) { expect_logfp({9000, 1000, 0, 1000, 2000, GetParam()}, 4097); }

// The answer of each peer goes when it is ready, however long ago the peer's last message was.
TEST_P(FreeMessages, HaveAnswersThatWaitForNoGap) { expect_logfp({100, 50, 100, 0, 90'000, GetParam()}, 1); }

// 0 means that f is not given: then it is 1.
INSTANTIATE_TEST_SUITE_P(Numbers, FreeMessages, ::testing::Values(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 40));

TEST(SimLogfP, GivesTheGoldenNumbers) {
  constexpr LogfP golden{5000, 180, 1600, 0, 5000, 7};
  const Json measured = measure_over_peers(golden.target(), 1);
  EXPECT_NEAR(median_ns(measured.at(0)), 13'560, rounding_ns);
  EXPECT_NEAR(median_ns(measured.at(10)), 14'640, rounding_ns);
  EXPECT_NEAR(median_ns(measured.at(12)), 17'160, rounding_ns);
  EXPECT_NEAR(median_ns(measured.at(14)), 22'137.8, rounding_ns);
  EXPECT_NEAR(median_ns(measured.at(20)), 57'060, rounding_ns);
}

// Sends that are completed one by one are no burst: each is the first one.
TEST(SimLogfP, ChargesOMaxForEachSendThatIsWaitedFor) {
  const double train_ns = testing::measure_ns("sim:L=5us,o_min=0.2us,o_max=1us,o_r=0,g=0.1us,G=0",
                                              R"({"pattern":"prtt","message_bytes":1,"train":10})");
  EXPECT_NEAR(train_ns, 2 * (5000 + 1200) + 9 * 1200, rounding_ns);
}

struct LoPTruth {
  double C, l1, l2, A, tau;            // us, us, -, us, -
  double first_overhead, more, shift;  // us, us, -

  [[nodiscard]] std::string target() const {
    std::ostringstream text;
    text.precision(15);
    text << "sim:ranks=17,lop=C=" << C << "us:l1=" << l1 << "us:l2=" << l2 << ":A=" << A << "us:tau=" << tau
         << ",lop-overhead=l1=" << first_overhead << "us:l2=" << more << "us:l3=" << shift;
    return text.str();
  }
  [[nodiscard]] double round_trip_ns(double p) const { return 1e3 * p * (C + l1 / (l2 + p) - A * std::exp(-p / tau)); }
  [[nodiscard]] double posting_ns(double p) const { return 1e3 * p * (first_overhead + more / (shift + p)); }
};

// The published curve of sends: C = l3 + l4, A = l4 exp(-l5 l6), tau = -1/l5 of the six printed parameters.
const LoPTruth published_send{
    9.1637 + 0.0174, 22.4558, -0.0140, 0.0174 * std::exp(0.0625 * 101.3065), 16.0, 0.52, 0.84, -0.12};
const LoPTruth published_rdma_write{4.4642 + 4.4751, 16.7937, 0.0058, 4.4751 * std::exp(0.0642 * 12.9209),
                                    1.0 / 0.0642,    0.52,    0.84,   -0.12};

class SimLoP : public ::testing::TestWithParam<LoPTruth> {};

TEST_P(SimLoP, FollowsTheCurvesAtEveryNumberOfPeersAndEverySize) {
  for (const int bytes : {1, 4096}) {
    const Json measured = measure_over_peers(GetParam().target(), bytes);
    for (std::size_t i = 0; i < peers_asked.size(); ++i) {
      const int p = peers_asked[i];
      EXPECT_NEAR(median_ns(measured.at(2 * i)), GetParam().round_trip_ns(p), rounding_ns) << "p = " << p;
      EXPECT_NEAR(median_ns(measured.at(2 * i + 1)), GetParam().posting_ns(p), rounding_ns) << "p = " << p;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Published, SimLoP, ::testing::Values(published_send, published_rdma_write));

TEST(SimLoP, GivesThePublishedRoundTripAMessage) {
  const Json measured = measure_over_peers(published_send.target(), 1);
  constexpr double printed_ns = 0.06;
  EXPECT_NEAR(median_ns(measured.at(0)), 22'768.0, 1 + printed_ns);
  EXPECT_NEAR(median_ns(measured.at(12)) / 8, 6060.9, 1 + printed_ns);
}

void expect_refused(const std::string& target, const std::string& named) {
  try {
    run_simulated(target, "");
    ADD_FAILURE() << target << " was accepted";
  } catch (const UsageError& error) {
    EXPECT_NE(std::string(error.what()).find(named), std::string::npos) << error.what();
  }
}

TEST(SimTruths, ThatContradictEachOtherAreRefusedByName) {
  expect_refused("sim:o_min=1us,o_s=1us", "'o_min' of sim accepts no 'o_s'");
  expect_refused("sim:f=3,S=1KiB", "'f' of sim accepts no 'S'");
  expect_refused("sim:f=0", "'f'");
  expect_refused("sim:f=3,o_min=0.2us,ranks=5", "'o_r' of sim accepts less");
  expect_refused("sim:L=1us,o=1us,f=30,ranks=17", "answers of 6 peers would queue");
  expect_refused("sim:o=1us,f=3,ranks=4,change=8KiB:o_r=2us", "'o_r' of sim accepts less");
  expect_refused("sim:R_C=1GB/s,G=1ns", "'R_C' of sim accepts no 'G'");
  expect_refused("sim:R_C=1GB/s,f=2", "'R_C' of sim accepts no 'f'");
  expect_refused("sim:R_C=1GB/s,R_Cb=1GB/s,R_Ci=1GB/s", "'R_C' of sim accepts no 'R_Cb'");
  expect_refused("sim:R_Cb=1GB/s", "beside 'R_Ci'");
  expect_refused("sim:R_N=1GB/s", "'R_N' of sim");
  expect_refused("sim:R_C=1GB/s,start-up=hidden", "'start-up' of sim");
  expect_refused("sim:R_C=1kB/s", "'R_C' of sim accepts at least");
  expect_refused("sim:R_C=1GB/s,R_N=1kB/s", "'R_N' of sim accepts at least");
  expect_refused("sim:R_C=1GB/s,change=8KiB:R_C=0GB/s", "accepts at least");
  expect_refused("sim:R_C=1GB/s,change=8KiB:G=1ns", "not 'G'");
  expect_refused("sim:change=8KiB:R_C=1GB/s", "not 'R_C'");
  expect_refused("sim:lop=C=1us:l1=1us:l2=0:A=0us:tau=1", "beside 'lop-overhead'");
  expect_refused("sim:lop-overhead=l1=1us:l2=1us:l3=0", "beside 'lop'");
}

TEST(SimTruths, OfLoPMustBePossible) {
  const std::string overhead = ",lop-overhead=l1=0.5us:l2=0.8us:l3=0";
  expect_refused("sim:lop=C=1us,lop-overhead=l1=1us", "all of C=");
  expect_refused("sim:lop=C=9us:l1=9us:l2=0:A=0us:tau=1:x=3" + overhead, "all of C=");
  expect_refused("sim:lop=C=9us:l1=9us:l2=-1:A=0us:tau=1" + overhead, "key l2,");
  expect_refused("sim:lop=C=9us:l1=9us:l2=0:A=0us:tau=0" + overhead, "key tau,");
  expect_refused("sim:lop=C=1us:l1=1us:l2=0:A=0us:tau=1" + overhead, "leave time to post");
  expect_refused("sim:lop=C=99us:l1=9us:l2=0:A=0us:tau=1,lop-overhead=l1=0us:l2=1us:l3=-0.5", "two sends");
  expect_refused("sim:L=5us,lop=C=9us:l1=9us:l2=0:A=0us:tau=1" + overhead, "'lop' of sim accepts no 'L'");
}

}  // namespace
}  // namespace chiplog
