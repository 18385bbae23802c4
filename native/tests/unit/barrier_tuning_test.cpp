#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include "collectives/tuning.hpp"

namespace chiplog::collectives {
namespace {

std::string name_of(const Choice& choice) {
  return choice.algorithm == nullptr ? "own" : std::string(choice.algorithm->name);
}

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
  EXPECT_EQ(choose(8).algorithm, nullptr);
  EXPECT_FALSE(choose(8).by_trial);
}

TEST_F(BarrierTuning, AnAlgorithmGoesBeforeTheNumberOfPeers) {
  setenv("CHIPLOG_BARRIER_N", "5", 1);
  setenv("CHIPLOG_BARRIER_ALGORITHM", "linear", 1);
  EXPECT_EQ(name_of(choose(8)), "linear");
  setenv("CHIPLOG_BARRIER_ALGORITHM", "fastest", 1);
  EXPECT_TRUE(choose(8).by_trial);
  setenv("CHIPLOG_BARRIER_ALGORITHM", "own", 1);
  EXPECT_EQ(choose(8).algorithm, nullptr);
  EXPECT_FALSE(choose(8).by_trial);
  setenv("CHIPLOG_BARRIER_ALGORITHM", "lineal", 1);
  EXPECT_EQ(name_of(choose(8)), "n-way-dissemination");
  EXPECT_NE(choose(8).problem.find("lineal"), std::string::npos);
}

TEST_F(BarrierTuning, AnyAlgorithmOfTheTableCanBeAskedForWithItsPeers) {
  for (const BarrierAlgorithm& one : barrier_algorithms) {
    const std::string name(one.name);
    setenv("CHIPLOG_BARRIER_ALGORITHM", (one.takes_peers() ? name + ":3" : name).c_str(), 1);
    EXPECT_EQ(name_of(choose(8)), name);
    EXPECT_EQ(choose(8).peers, one.takes_peers() ? 3 : 0);
    EXPECT_TRUE(choose(8).problem.empty());
    for (const std::string& wrong : {one.takes_peers() ? name : name + ":3", name + ":0", name + ":x"}) {
      setenv("CHIPLOG_BARRIER_ALGORITHM", wrong.c_str(), 1);
      EXPECT_NE(choose(8).problem.find(wrong), std::string::npos) << wrong;
    }
  }
}

TEST_F(BarrierTuning, EveryAlgorithmOfTheTableIsReadFromAFile) {
  for (const BarrierAlgorithm& one : barrier_algorithms) {
    write_choices(R"({"ranks": 8, "algorithm": ")" + std::string(one.name) + R"(", "peers": 5})");
    EXPECT_EQ(name_of(choose(8)), one.name);
    EXPECT_EQ(choose(8).peers, one.takes_peers() ? 5 : 0);
    EXPECT_TRUE(choose(8).problem.empty());
  }
}

TEST_F(BarrierTuning, AChoiceSurvivesItsWayToTheOtherRanks) {
  std::vector<Choice> all = candidates(64);
  all.push_back({nullptr, 0, true, {}, {}, false});
  for (const Choice& one : all) {
    Choice other;
    set_code(other, code_of(one));
    EXPECT_EQ(other.algorithm, one.algorithm);
    EXPECT_EQ(other.by_trial, one.by_trial);
  }
}

TEST_F(BarrierTuning, ATrialComparesOneNForEachNumberOfRounds) {
  std::vector<int> peers;
  for (const Choice& one : candidates(64)) {
    if (name_of(one) == "n-way-dissemination") peers.push_back(one.peers);
  }
  EXPECT_EQ(peers, (std::vector<int>{1, 2, 3, 7})) << "6, 4, 3 and 2 rounds";
  std::vector<std::string> names;
  for (const Choice& one : candidates(64)) names.push_back(name_of(one));
  EXPECT_EQ(names.front(), "own");
  for (const BarrierAlgorithm& one : barrier_algorithms) {
    const auto times = std::count(names.begin(), names.end(), one.name);
    EXPECT_EQ(times, one.trials == nullptr ? 0 : static_cast<std::ptrdiff_t>(one.trials(64).size())) << one.name;
  }
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
  EXPECT_EQ(name_of(choose(16)), "dissemination") << "n = 1";
  EXPECT_EQ(name_of(choose(20)), "linear");
  EXPECT_EQ(choose(40).algorithm, nullptr) << "an algorithm that the library doesn't have is left to the MPI";
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
