// One-sided operations in virtual time: what each costs is known to the nanosecond.
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "simulated_run.hpp"

namespace chiplog::testing {
namespace {

constexpr double L = 5000, o_s = 1000, o_r = 700, g = 2000, G = 0.5;
const std::string network = "sim:L=5us,o_s=1us,o_r=700ns,g=2us,G=0.5ns";

double measured_ns(const std::string& operation, const std::string& rest) {
  return measure_ns(network, R"({"operation":")" + operation + R"(",)" + rest + "}");
}

TEST(SimulatedOperations, AWriteIsReceivedWithoutOverhead) {
  EXPECT_DOUBLE_EQ(measured_ns("rdma-write", R"("pattern":"ping_pong","message_bytes":1)"), 2 * (o_s + L));
  EXPECT_DOUBLE_EQ(measured_ns("rdma-write", R"("pattern":"prtt","message_bytes":1001,"train":1)"),
                   2 * (o_s + L + 1000 * G));
  EXPECT_DOUBLE_EQ(measured_ns("rdma-write", R"("pattern":"prtt","message_bytes":1001,"train":10)"),
                   2 * (o_s + L + 1000 * G) + 9 * (g + 1000 * G));
}

TEST(SimulatedOperations, ImmediateDataCostTheReceiver) {
  EXPECT_DOUBLE_EQ(measured_ns("rdma-write-immediate", R"("pattern":"ping_pong","message_bytes":1)"),
                   2 * (o_s + L + o_r));
}

TEST(SimulatedOperations, AReadIsARequestAndAnAnswer) {
  EXPECT_DOUBLE_EQ(measured_ns("rdma-read", R"("pattern":"ping_pong","message_bytes":1001)"), o_s + 2 * L + 1000 * G);
  EXPECT_DOUBLE_EQ(measured_ns("atomic", R"("pattern":"ping_pong","message_bytes":8)"), std::llround(o_s + 2 * L + 7 * G));
}

TEST(SimulatedOperations, ReadsFollowEachOtherAtTheGap) {
  EXPECT_DOUBLE_EQ(measured_ns("rdma-read", R"("pattern":"prtt","message_bytes":1,"train":10)"), o_s + 2 * L + 9 * g);
}

TEST(SimulatedOperations, WritesNeverWaitForTheirReceive) {
  EXPECT_DOUBLE_EQ(measure_ns(network + ",S=8", R"({"operation":"rdma-write","pattern":"prtt","message_bytes":101})"),
                   2 * (o_s + L + 100 * G));
}

TEST(SimulatedOperations, ReadsAreRefusedWhereNodesShareANic) {
  const SimulatedRun run = run_simulated(
      "sim:ranks=4,R_C=4GB/s,R_N=7GB/s", request_for(R"({"operation":"rdma-read","pattern":"prtt","message_bytes":8})"));
  EXPECT_EQ(run.of_type("error").at(0).at("message"),
            "field 'series[0].operation' does not accept rdma-read on sim, which does not read a peer's memory");
}

}  // namespace
}  // namespace chiplog::testing
