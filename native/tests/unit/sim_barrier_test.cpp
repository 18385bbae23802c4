// The n-way dissemination barrier over the simulated network takes what its closed form says.

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "core/dissemination.hpp"
#include "simulated_run.hpp"

namespace chiplog {
namespace {

using testing::median_ns;
using testing::request_for;
using testing::run_simulated;

constexpr double L = 5000, o_s = 1000, o_r = 1500, g = 2000, G = 0.5;  // ns, ns/B
const std::string network = "sim:L=5us,o_s=1us,o_r=1.5us,g=2us,G=0.5ns";
constexpr double rounding_ns = 0.5;

std::string barrier_of(int peers, int bytes, const std::string& more = "") {
  return R"({"pattern":"barrier","message_bytes":)" + std::to_string(bytes) + R"(,"peers":)" + std::to_string(peers) +
         more + "}";
}

// Of each round: as many sends as it has peers, one gap after the other, and the way of the last. Receives before the
// last one are hidden, as o_r is within the gap.
double closed_form_ns(int ranks, int peers, int bytes) {
  const double bytes_ns = (std::max(bytes, 1) - 1) * G;
  double time_ns = 0.0;
  for (long distance = 1; distance < ranks; distance *= peers + 1) {
    const double sends = static_cast<double>(std::min<long>(peers, (ranks - 1) / distance));
    time_ns += (sends - 1) * std::max(o_s, g + bytes_ns) + o_s + L + bytes_ns + o_r;
  }
  return time_ns;
}

class SimBarrier : public ::testing::TestWithParam<int> {
 protected:
  [[nodiscard]] std::string target() const { return network + ",ranks=" + std::to_string(GetParam()); }
};

TEST_P(SimBarrier, TakesTheRoundsOfItsClosedForm) {
  const int ranks = GetParam();
  std::string series;
  for (const int bytes : {0, 1, 1000}) {
    for (int peers = 1; peers <= std::min(3, ranks - 1); ++peers) {
      series += (series.empty() ? "" : ",") + barrier_of(peers, bytes);
    }
  }
  const auto record = run_simulated(target(), request_for(series)).of_type("record").at(0).at("series");
  for (const auto& measured : record) {
    const int peers = measured.at("peers");
    const int bytes = measured.at("message_bytes");
    EXPECT_EQ(measured.at("batch"), 1);
    EXPECT_NEAR(median_ns(measured), closed_form_ns(ranks, peers, bytes), rounding_ns)
        << ranks << " ranks, n = " << peers << ", " << bytes << " B";
  }
}

TEST_P(SimBarrier, CountsTheMessagesOfAllRanks) {
  const auto run = run_simulated(target(), request_for(barrier_of(1, 100)));
  const auto counted = run.of_type("record").at(0).at("series").at(0);
  // 2 warm-up and 6 samples, one more to warm up the only chunk, a barrier before each; and one payload check.
  const auto messages = 2 * (2 + 6 + 1) * GetParam() * dissemination_messages(GetParam(), 1) + 2;
  EXPECT_EQ(counted.at("direction"), "call");
  EXPECT_EQ(counted.at("messages"), messages);
  EXPECT_EQ(counted.at("bytes"), 100 * messages);
}

INSTANTIATE_TEST_SUITE_P(Ranks, SimBarrier, ::testing::Range(2, 10));

TEST(SimBarriers, StandBesideOtherPatternsInOneRecord) {
  const std::string trips = R"({"pattern":"prtt","message_bytes":8},)";
  const std::string peers = R"({"pattern":"one_to_many","message_bytes":8,"peers":2},)";
  const auto run =
      run_simulated(network + ",ranks=5", request_for(trips + barrier_of(2, 8) + "," + peers + barrier_of(4, 8)));
  const auto record = run.of_type("record").at(0).at("series");
  EXPECT_NEAR(median_ns(record.at(0)), 2 * closed_form_ns(2, 1, 8), rounding_ns);
  EXPECT_NEAR(median_ns(record.at(1)), closed_form_ns(5, 2, 8), rounding_ns);
  EXPECT_NEAR(median_ns(record.at(3)), closed_form_ns(5, 4, 8), rounding_ns);
}

TEST(SimBarriers, FollowOneAnotherWhereOneIsTooShortToTime) {
  const auto run = run_simulated("sim:L=10ns,o=1ns,g=2ns,ranks=2", request_for(barrier_of(1, 1)));
  const auto measured = run.of_type("record").at(0).at("series").at(0);
  EXPECT_GT(measured.at("batch"), 1);
  EXPECT_NEAR(median_ns(measured), 12.0, rounding_ns);
}

TEST(SimBarriers, OfWritesHaveNoReceiveOverhead) {
  const double time_ns = testing::measure_ns(network + ",ranks=4", barrier_of(1, 1, R"(,"operation":"rdma-write")"));
  EXPECT_NEAR(time_ns, 2 * (L + o_s), rounding_ns);
}

TEST(SimBarriers, DoNotWaitForEachOtherForEverAboveTheEagerLimit) {
  EXPECT_GT(testing::measure_ns(network + ",S=100,ranks=5", barrier_of(2, 1000)), closed_form_ns(5, 2, 1000) - 1);
}

void expect_refused(const std::string& series, const std::string& named) {
  const auto run = run_simulated(network + ",ranks=4", request_for(series));
  EXPECT_TRUE(run.of_type("record").empty()) << series;
  EXPECT_NE(run.text.find(named), std::string::npos) << run.text;
}

TEST(SimBarriers, RefuseWhatMakesNoBarrier) {
  expect_refused(barrier_of(4, 1), "peers' accepts at most 3");
  expect_refused(barrier_of(1, 1, R"(,"train":2)"), "train' of barrier accepts 1");
  expect_refused(barrier_of(1, 1, R"(,"delay_ns":5)"), "delay_ns' of barrier accepts 0");
  expect_refused(barrier_of(1, 8, R"(,"operation":"atomic")"), "operation' of barrier does not accept atomic");
  expect_refused(barrier_of(1, 1, R"(,"operation":"rdma-read")"), "operation' of barrier does not accept rdma-read");
}

}  // namespace
}  // namespace chiplog
