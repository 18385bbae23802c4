// How much of a transfer the simulated network does while a rank computes, to the nanosecond.

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "simulated_run.hpp"

namespace chiplog {
namespace {

using testing::Json;
using testing::measure_ns;
using testing::request_for;
using testing::run_simulated;

std::string series(const std::string& pattern, int bytes, double delay_ns = 0.0) {
  return R"({"pattern":")" + pattern + R"(","message_bytes":)" + std::to_string(bytes) + R"(,"delay_ns":)" +
         std::to_string(delay_ns) + "}";
}

constexpr double long_ns = 1e9;

const std::string network = "sim:L=5us,o_s=1us,o_r=1.5us,g=2us,G=0.5ns,O_s=0.1ns,O_r=0.2ns";

TEST(SimOverlap, OfASendAloneIsAMessageAndItsAnswer) {
  for (const int bytes : {1, 8, 65'537}) {
    EXPECT_NEAR(measure_ns(network, series("overlap", bytes)), 15'000 + 0.8 * (bytes - 1), 0.51) << bytes;
    EXPECT_NEAR(measure_ns(network, series("overlap_receive", bytes)), 15'000 + 0.8 * (bytes - 1), 0.51) << bytes;
  }
}

TEST(SimOverlap, LeavesWhatTheProcessorDoesItself) {
  for (const int bytes : {1, 8, 65'537}) {
    const double sending_ns = 1000 + 0.1 * (bytes - 1) + 1500;
    const double receiving_ns = 1000 + 1500 + 0.2 * (bytes - 1);
    EXPECT_NEAR(measure_ns(network, series("overlap", bytes, long_ns)), long_ns + sending_ns, 0.51) << bytes;
    EXPECT_NEAR(measure_ns(network, series("overlap_receive", bytes, long_ns)), long_ns + receiving_ns, 0.51) << bytes;
  }
}

TEST(SimOverlap, HidesNoMoreThanTheComputationTakes) {
  const double alone_ns = measure_ns(network, series("overlap", 65'537));
  EXPECT_NEAR(measure_ns(network, series("overlap", 65'537, 2000)), alone_ns, 0.51);
}

// The answer to the request of a message above S is L + o_s + o_r away when it is asked for.
TEST(SimOverlap, HidesAHandshakeToo) {
  const std::string target = network + ",S=1KiB,handshake=sync";
  const double further_ns = 65'536;
  EXPECT_NEAR(measure_ns(target, series("overlap", 65'537)), 30'000 + 0.8 * further_ns, 0.51);
  // Once the sender's processor has received the answer, the network sends the data without it.
  EXPECT_NEAR(measure_ns(target, series("overlap", 65'537, long_ns)), long_ns + 1000 + 1500, 0.51);
  EXPECT_NEAR(measure_ns(target, series("overlap_receive", 65'537, long_ns)), long_ns + 2500 + 0.2 * further_ns, 0.51);
}

TEST(SimOverlap, DoesNotGoOnWithAHandshakeOutsideOfCalls) {
  const std::string target = network + ",S=1KiB,handshake=sync,progress=calls";
  const double further_ns = 65'536;
  EXPECT_NEAR(measure_ns(target, series("overlap", 1024, long_ns)), long_ns + 2500 + 0.1 * 1023, 0.51);
  EXPECT_NEAR(measure_ns(target, series("overlap", 65'537)), 30'000 + 0.8 * further_ns, 0.51);
  // The request has gone and its answer has come: all that is hidden is 2L + o_s + o_r.
  EXPECT_NEAR(measure_ns(target, series("overlap", 65'537, long_ns)), long_ns + 17'500 + 0.8 * further_ns, 0.51);
  // The request has come, and is answered only now.
  EXPECT_NEAR(measure_ns(target, series("overlap_receive", 65'537, long_ns)), long_ns + 17'500 + 0.8 * further_ns,
              0.51);
}

TEST(SimOverlap, ExchangesUnderEveryProgress) {
  for (const std::string pattern : {"exchange", "prtt", "flood", "barrier"}) {
    const std::string request = R"({"pattern":")" + pattern + R"(","message_bytes":65537})";
    EXPECT_NEAR(measure_ns("sim:S=1KiB,handshake=sync,progress=calls", request),
                measure_ns("sim:S=1KiB,handshake=sync", request), 0.51)
        << pattern;
  }
}

TEST(SimOverlap, CountsItsMessages) {
  const Json record = run_simulated("sim", request_for(series("overlap", 1000))).of_type("record").at(0);
  const Json& overlap = record.at("series").at(0);
  const std::int64_t samples = overlap.at("samples_ns").size() + 1;  // one before each chunk is not kept
  EXPECT_EQ(overlap.at("messages"), 2 * samples + 2);
  EXPECT_EQ(overlap.at("bytes"), 1000 * (samples + 2));
}

TEST(SimOverlap, IsOfSendsOnly) {
  const std::string request = request_for(R"({"pattern":"overlap","message_bytes":8,"operation":"rdma-write"})");
  EXPECT_NE(run_simulated("sim", request).text.find("does not accept rdma-write"), std::string::npos);
}

}  // namespace
}  // namespace chiplog
