#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include "collectives/tuning.hpp"

namespace chiplog::collectives {
namespace {

class BarrierTuning : public testing::Test {
 protected:
  BarrierTuning() { TearDown(); }
  void TearDown() override {
    unsetenv("CHIPLOG_BARRIER_ALGORITHM");
    unsetenv("CHIPLOG_BARRIER_N");
    unsetenv("CHIPLOG_TUNING");
    std::remove(path_.c_str());
  }
  void write(const std::string& text) {
    std::ofstream(path_) << text;
    setenv("CHIPLOG_TUNING", path_.c_str(), 1);
  }
  void write_choices(const std::string& choices) {
    write(R"({"schema": "chiplog.tuning/1", "operation": "barrier", "choices": [)" + choices + "]}");
  }

  const std::string path_ = testing::TempDir() + "chiplog-tuning-" + std::to_string(getpid()) + ".json";
};

TEST_F(BarrierTuning, TheDefaultIsTheSmallestNUpToThreeWithTheFewestRounds) {
  EXPECT_EQ(default_peers(2), 1);
  EXPECT_EQ(default_peers(3), 2);
  EXPECT_EQ(default_peers(4), 3);
  EXPECT_EQ(default_peers(8), 2);
  EXPECT_EQ(default_peers(64), 3);
  EXPECT_EQ(choose(64).peers, 3);
  EXPECT_EQ(choose(64).why, "by default");
  EXPECT_TRUE(choose(64).provisional);
}

TEST_F(BarrierTuning, TheVariableGoesBeforeTheFile) {
  write_choices(R"({"ranks": 8, "algorithm": "n-way-dissemination", "peers": 7})");
  setenv("CHIPLOG_BARRIER_N", "5", 1);
  EXPECT_EQ(choose(8).peers, 5);
  EXPECT_FALSE(choose(8).provisional);
  setenv("CHIPLOG_BARRIER_N", "0", 1);
  EXPECT_EQ(choose(8).algorithm, Algorithm::own);
}

TEST_F(BarrierTuning, AnAlgorithmGoesBeforeTheNumberOfPeers) {
  setenv("CHIPLOG_BARRIER_N", "5", 1);
  setenv("CHIPLOG_BARRIER_ALGORITHM", "linear", 1);
  EXPECT_EQ(choose(8).algorithm, Algorithm::linear);
  setenv("CHIPLOG_BARRIER_ALGORITHM", "fastest", 1);
  EXPECT_EQ(choose(8).algorithm, Algorithm::fastest);
  setenv("CHIPLOG_BARRIER_ALGORITHM", "own", 1);
  EXPECT_EQ(choose(8).algorithm, Algorithm::own);
  setenv("CHIPLOG_BARRIER_ALGORITHM", "lineal", 1);
  EXPECT_EQ(choose(8).algorithm, Algorithm::dissemination);
  EXPECT_NE(choose(8).problem.find("lineal"), std::string::npos);
}

TEST_F(BarrierTuning, ATrialComparesOneNForEachNumberOfRounds) {
  std::vector<int> peers;
  for (const Choice& one : candidates(64)) {
    if (one.algorithm == Algorithm::dissemination) peers.push_back(one.peers);
  }
  EXPECT_EQ(peers, (std::vector<int>{1, 2, 3, 7})) << "6, 4, 3 and 2 rounds";
  EXPECT_EQ(candidates(64).size(), peers.size() + 2) << "and linear, and the MPI's own";
}

TEST_F(BarrierTuning, AVariableThatIsNoNumberIsNotInForceAndSaysSo) {
  for (const char* wrong : {"-1", "three", "3x", "99999999999"}) {
    setenv("CHIPLOG_BARRIER_N", wrong, 1);
    EXPECT_EQ(choose(64).peers, 3);
    EXPECT_NE(choose(64).problem.find(wrong), std::string::npos);
  }
}

TEST_F(BarrierTuning, OfAFileTheChoiceForAsManyRanksOrFewerCounts) {
  write_choices(R"({"ranks": 64, "algorithm": "n-way-dissemination", "peers": 4},
                   {"ranks": 8, "algorithm": "n-way-dissemination", "peers": 7},
                   {"ranks": 16, "algorithm": "dissemination", "peers": null},
                   {"ranks": 20, "algorithm": "linear", "peers": null},
                   {"ranks": 32, "algorithm": "double-ring", "peers": null})");
  EXPECT_EQ(choose(4).peers, 7);
  EXPECT_EQ(choose(8).peers, 7);
  EXPECT_EQ(choose(15).peers, 7);
  EXPECT_EQ(choose(16).peers, 1);
  EXPECT_EQ(choose(20).algorithm, Algorithm::linear);
  EXPECT_EQ(choose(40).algorithm, Algorithm::own) << "an algorithm that the library doesn't have is left to the MPI";
  EXPECT_EQ(choose(1000).peers, 4);
  EXPECT_TRUE(choose(64).problem.empty());
}

TEST_F(BarrierTuning, AFileThatCantBeUsedIsNotInForceAndSaysWhy) {
  const std::string wrong[] = {
      "",
      "[]",
      R"({"schema": "chiplog.tuning/2", "operation": "barrier", "choices": []})",
      R"({"schema": "chiplog.tuning/1", "operation": "bcast", "choices": []})",
      R"({"schema": "chiplog.tuning/1", "operation": "barrier", "choices": []})",
      R"({"schema": "chiplog.tuning/1", "operation": "barrier", "choices": [{"ranks": "8"}]})",
      R"({"schema": "chiplog.tuning/1", "operation": "barrier",
          "choices": [{"ranks": 8, "algorithm": "n-way-dissemination", "peers": 0}]})",
  };
  for (const std::string& text : wrong) {
    write(text);
    const Choice choice = choose(8);
    EXPECT_EQ(choice.peers, 2) << text;
    EXPECT_NE(choice.problem.find(path_), std::string::npos) << text;
  }
  setenv("CHIPLOG_TUNING", "/nowhere/tuning.json", 1);
  EXPECT_NE(choose(8).problem.find("can't be read"), std::string::npos);
}

}  // namespace
}  // namespace chiplog::collectives
