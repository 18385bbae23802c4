// Messages of p peers to one rank over the simulated network: the receiver takes them one after the other.

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "simulated_run.hpp"
#include "transports/sim/receiving_nic.hpp"

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

// The requests go out g apart; a peer that has its own sends s bytes, which the receiver's NIC and CPU take one after
// the other.
TEST(SimIncast, IsServedByTheReceiver) {
  const std::string target = "sim:ranks=9,L=5us,o_s=1us,o_r=1.5us,g=2us,G=0.5ns,O_s=0.1ns,O_r=0.4ns";
  for (const int bytes : {1, 1001, 100'001}) {
    const double further = bytes - 1;
    const double first_ns = 1000 + 5000 + 1500 + 1000 + 0.1 * further + 0.5 * further + 5000;
    const double taking_ns = 1500 + 0.4 * further;
    for (const int peers : {1, 2, 5, 8}) {
      const double between_ns = std::max(2000.0 + 0.5 * further, taking_ns);
      EXPECT_NEAR(measure_ns(target, series(bytes, peers)), first_ns + (peers - 1) * between_ns + taking_ns, 0.51)
          << bytes << " B of " << peers;
    }
  }
}

TEST(SimIncast, DoesNotWaitForARankThatIsLate) {
  const std::string network = "sim:ranks=5,L=5us,o=1us,g=2us,G=0.5ns";
  const double alike_ns = measure_ns(network, series(100'001, 4));
  const double late_ns = measure_ns(network + ",slow=100:1", series(100'001, 4));
  const double other_ranks_ns = 3 * (2000.0 + 0.5 * 100'000);
  EXPECT_GT(late_ns, alike_ns);
  EXPECT_LT(late_ns, 2 * 99'000.0 + alike_ns - other_ranks_ns + 4 * 2000.0);
}

TEST(ReceivingNic, TakesMessagesOfDifferentRanksOneAfterTheOther) {
  sim::ReceivingNic nic;
  EXPECT_EQ(nic.receive(1, 100, 50), 100U);
  EXPECT_EQ(nic.receive(2, 120, 50), 150U);
  EXPECT_EQ(nic.receive(3, 10, 50), 10U);   // was there before the others
  EXPECT_EQ(nic.receive(3, 60, 50), 200U);  // finds no room between them
  EXPECT_EQ(nic.receive(4, 130, 10), 250U);
  nic.forget();
  EXPECT_EQ(nic.receive(2, 130, 10), 130U);
}

TEST(ReceivingNic, LeavesMessagesOfOneRankAsTheyWereSent) {
  sim::ReceivingNic nic;
  EXPECT_EQ(nic.receive(1, 100, 50), 100U);
  EXPECT_EQ(nic.receive(1, 90, 50), 90U);
  EXPECT_EQ(nic.receive(2, 90, 5), 150U);
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
