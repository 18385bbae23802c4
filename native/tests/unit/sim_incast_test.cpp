// Messages of p peers to one rank over the simulated network: the receiver takes them one after the other.

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

std::string series(int bytes, int peers) {
  return R"({"pattern":"incast","message_bytes":)" + std::to_string(bytes) + R"(,"peers":)" + std::to_string(peers) +
         "}";
}

// The requests go out g apart; a peer that has its own sends s bytes, which are taken as they come.
TEST(SimIncast, IsServedByTheReceiver) {
  const std::string target = "sim:ranks=9,L=5us,o_s=1us,o_r=1.5us,g=2us,G=0.5ns,O_s=0.1ns,O_r=0.4ns";
  for (const int bytes : {1, 1001, 100'001}) {
    const double further = bytes - 1;
    const double first_ns = 1000 + 5000 + 1500 + 1000 + 0.1 * further + 0.5 * further + 5000;
    const double taking_ns = 1500 + 0.4 * further;
    for (const int peers : {1, 2, 5, 8}) {
      const double between_ns = std::max(2000.0, taking_ns);
      EXPECT_NEAR(measure_ns(target, series(bytes, peers)), first_ns + (peers - 1) * between_ns + taking_ns, 0.51)
          << bytes << " B of " << peers;
    }
  }
}

TEST(SimIncast, CountsItsMessages) {
  const Json record = run_simulated("sim:ranks=4", request_for(series(1000, 3))).of_type("record").at(0);
  const Json& incast = record.at("series").at(0);
  const std::int64_t samples = incast.at("samples_ns").size() + 1;  // one before each chunk is not kept
  EXPECT_EQ(incast.at("messages"), 9 * samples + 6);
  EXPECT_EQ(incast.at("bytes"), 1000 * (3 * samples + 6));
}

TEST(SimIncast, IsRefusedOfReads) {
  const std::string request = request_for(R"({"pattern":"incast","message_bytes":8,"operation":"rdma-read"})");
  EXPECT_NE(run_simulated("sim", request).text.find("does not accept rdma-read"), std::string::npos);
}

}  // namespace
}  // namespace chiplog
