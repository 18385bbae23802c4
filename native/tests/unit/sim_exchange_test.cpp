// An exchange over the simulated network takes as long as one message, where both directions have all of their speed.

#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "simulated_run.hpp"

namespace chiplog {
namespace {

using testing::Json;
using testing::measure_ns;
using testing::request_for;
using testing::run_simulated;

std::string series(const std::string& pattern, int bytes, int pairs = 1) {
  return R"({"pattern":")" + pattern + R"(","message_bytes":)" + std::to_string(bytes) +
         (pairs > 1 ? R"(,"pairs":)" + std::to_string(pairs) : "") + "}";
}

TEST(SimExchange, TakesWhatOneMessageTakes) {
  const std::string target = "sim:L=5us,o_s=1us,o_r=1.5us,g=2us,G=0.5ns,O_s=0.1ns,O_r=0.2ns";
  for (const int bytes : {0, 1, 8, 1000, 65'536, 4'194'304}) {
    const double further_bytes = bytes > 0 ? bytes - 1 : 0;
    EXPECT_NEAR(measure_ns(target, series("exchange", bytes)), 7500 + 0.8 * further_bytes, 0.51) << bytes;
  }
}

TEST(SimExchange, TakesHalfARoundTripUnderEveryProtocol) {
  for (const std::string options :
       {"S=1KiB", "S=1KiB,handshake=sync", "change=4KiB:L=9us:g=4us", "R_C=1GB/s,R_N=3GB/s"}) {
    for (const int bytes : {1, 1024, 1025, 65'536}) {
      const std::string target = "sim:" + options;
      EXPECT_NEAR(measure_ns(target, series("exchange", bytes)), measure_ns(target, series("prtt", bytes)) / 2, 0.51)
          << options << ", " << bytes << " B";
    }
  }
}

TEST(SimExchange, SharesAnEngineAsMuchAsItIsTold) {
  const std::string network = "sim:L=5us,o=1us,g=2us,G=0.5ns,O=0.1ns,duplex=";
  for (const double duplex : {1.0, 1.5, 2.0}) {
    const std::string target = network + std::to_string(duplex);
    EXPECT_NEAR(measure_ns(target, series("exchange", 1)), 7000, 0.51) << duplex;
    EXPECT_NEAR(measure_ns(target, series("exchange", 65'537)), 7000 + (0.2 + 0.5 * duplex) * 65'536, 0.51) << duplex;
    EXPECT_NEAR(measure_ns(target, series("prtt", 65'537)), 2 * (7000 + 0.7 * 65'536), 0.51) << duplex;
  }
}

TEST(SimExchange, AsksFirstAndThenSharesTheEngine) {
  const std::string target = "sim:L=5us,o=1us,g=2us,G=0.5ns,S=1KiB,handshake=sync,duplex=";
  const double alone = measure_ns(target + "1", series("exchange", 65'537));
  EXPECT_NEAR(measure_ns(target + "2", series("exchange", 65'537)), alone + 0.5 * 65'536, 0.51);
}

TEST(SimExchange, OfSeveralPairsSharesTheNodeInEachDirection) {
  const std::string target = "sim:ranks=8,L=2us,o=1us,R_C=2GB/s,R_N=3GB/s";
  for (const int pairs : {1, 2, 3, 4}) {
    const double node_bytes_per_ns = std::min(3.0, 2.0 * pairs);
    EXPECT_NEAR(measure_ns(target, series("exchange", 65'536, pairs)), 4000 + pairs * 65'536 / node_bytes_per_ns, 0.51)
        << pairs;
  }
}

TEST(SimExchange, HasAnEvenNumberInASample) {
  const Json record =
      run_simulated("sim:L=1ns,o=0,g=0,G=0.001ns,S=1GiB", request_for(series("exchange", 1))).of_type("record").at(0);
  const Json& exchange = record.at("series").at(0);
  EXPECT_EQ(exchange.at("direction"), "one-way");
  EXPECT_EQ(exchange.at("batch").get<int>() % 2, 0);
  EXPECT_GE(exchange.at("batch").get<int>(), 100);
}

TEST(SimExchange, CountsItsMessages) {
  const Json record = run_simulated("sim:ranks=4", request_for(series("exchange", 1000, 2))).of_type("record").at(0);
  const Json& exchange = record.at("series").at(0);
  const std::int64_t samples = exchange.at("samples_ns").size() + 1;  // one before each chunk is not kept
  const std::int64_t checks = 2;
  EXPECT_EQ(exchange.at("batch"), 2);
  EXPECT_EQ(exchange.at("bytes"), 1000 * (samples * 8 + 2 * checks));
  EXPECT_EQ(exchange.at("messages"), samples * (8 + 4) + 2 * checks);
}

TEST(SimExchange, IsRefusedOfReads) {
  const std::string request = request_for(R"({"pattern":"exchange","message_bytes":8,"operation":"rdma-read"})");
  EXPECT_NE(run_simulated("sim", request).text.find("does not accept rdma-read"), std::string::npos);
}

}  // namespace
}  // namespace chiplog
