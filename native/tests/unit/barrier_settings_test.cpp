#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "collectives/settings.hpp"

namespace chiplog::collectives {
namespace {

class BarrierSettings : public testing::Test {
 protected:
  BarrierSettings() { TearDown(); }
  void TearDown() override {
    for (const char* variable : {"CHIPLOG_BARRIER_AFTER", "CHIPLOG_BARRIER_SHARED", "CHIPLOG_EVERY_RANK",
                                 "CHIPLOG_BARRIER_NODE", "CHIPLOG_VERBOSE"}) {
      unsetenv(variable);
    }
  }
};

TEST_F(BarrierSettings, WithoutVariablesTheDefaultsHoldAndNothingIsSaid) {
  const Settings read = read_settings();
  EXPECT_EQ(read.barriers_before, 32);
  EXPECT_TRUE(read.shares_memory);
  EXPECT_FALSE(read.every_rank);
  EXPECT_FALSE(read.verbose);
  EXPECT_TRUE(read.problems.empty());
}

TEST_F(BarrierSettings, NumbersAreTaken) {
  setenv("CHIPLOG_BARRIER_AFTER", "5", 1);
  setenv("CHIPLOG_BARRIER_SHARED", "0", 1);
  setenv("CHIPLOG_EVERY_RANK", "1", 1);
  setenv("CHIPLOG_VERBOSE", "1", 1);
  setenv("CHIPLOG_BARRIER_NODE", "rack 1", 1);
  const Settings read = read_settings();
  EXPECT_EQ(read.barriers_before, 5);
  EXPECT_FALSE(read.shares_memory);
  EXPECT_TRUE(read.every_rank);
  EXPECT_TRUE(read.verbose);
  EXPECT_EQ(read.node, "rack 1");
  EXPECT_TRUE(read.problems.empty());
}

TEST_F(BarrierSettings, AnEmptyValueIsAsIfTheVariableWereNotSet) {
  setenv("CHIPLOG_BARRIER_AFTER", "", 1);
  setenv("CHIPLOG_EVERY_RANK", "", 1);
  const Settings read = read_settings();
  EXPECT_EQ(read.barriers_before, 32);
  EXPECT_TRUE(read.problems.empty());
}

TEST_F(BarrierSettings, ANumberOfBarriersThatIsNoneIsSaidAndTheDefaultHolds) {
  for (const char* wrong : {"abc", "0", "-1", "3x", " 3", "3 ", "+3", "0x10", "1e3", "99999999999999999999", "2.5"}) {
    setenv("CHIPLOG_BARRIER_AFTER", wrong, 1);
    const Settings read = read_settings();
    EXPECT_EQ(read.barriers_before, 32) << wrong;
    ASSERT_EQ(read.problems.size(), 1U) << wrong;
    EXPECT_EQ(read.problems[0], std::string("CHIPLOG_BARRIER_AFTER='") + wrong +
                                    "' is not a whole number from 1 to 1000000000; 32 is used");
  }
}

TEST_F(BarrierSettings, ASwitchThatIsNeither0Nor1IsSaidAndTheDefaultHolds) {
  for (const char* wrong : {"yes", "no", "true", "2", "-1", "10"}) {
    setenv("CHIPLOG_BARRIER_SHARED", wrong, 1);
    setenv("CHIPLOG_EVERY_RANK", wrong, 1);
    setenv("CHIPLOG_VERBOSE", wrong, 1);
    const Settings read = read_settings();
    EXPECT_TRUE(read.shares_memory) << wrong;
    EXPECT_FALSE(read.every_rank) << wrong;
    EXPECT_FALSE(read.verbose) << wrong;
    ASSERT_EQ(read.problems.size(), 3U) << wrong;
    EXPECT_NE(read.problems[1].find("CHIPLOG_EVERY_RANK='"), std::string::npos);
    EXPECT_NE(read.problems[1].find("; 0 is used"), std::string::npos);
  }
}

}  // namespace
}  // namespace chiplog::collectives
