#include <gtest/gtest.h>

#include <csignal>

#include "chiplog/error.hpp"
#include "core/interruption.hpp"
#include "core/record_sink.hpp"
#include "simulated_run.hpp"
#include "transports/registry.hpp"

namespace chiplog {
namespace {

using testing::request_for;
using testing::run_simulated;

constexpr const char* one_series = R"({"pattern":"prtt","message_bytes":8})";

TEST(Session, WithoutRequestsIsAHeaderAndAFooter) {
  const auto run = run_simulated("sim:L=1us,seed=5", "");
  EXPECT_EQ(run.exit_code, 0);
  ASSERT_EQ(run.lines.size(), 2U);
  EXPECT_EQ(run.header().at("schema"), "chiplog.run/1");
  EXPECT_EQ(run.header().at("transport"), "sim");
  EXPECT_EQ(run.header().at("options").at("L_ns"), 1000.0);
  EXPECT_EQ(run.header().at("options").at("seed"), 5);
  EXPECT_EQ(run.footer().at("records"), 0);
  EXPECT_EQ(run.footer().at("complete"), true);
  EXPECT_EQ(run.footer().at("reason"), "done");
}

TEST(Session, HeaderHasAllThatReadersRequire) {
  const auto run = run_simulated("sim", "");
  for (const char* member : {"type",    "schema",       "chiplog", "run_id", "created",  "target",  "transport",
                             "ranks",   "seed",         "launch",  "clock",  "hosts",    "binding", "machine",
                             "options", "capabilities", "mpi",     "plan",   "warnings", "crc32"}) {
    EXPECT_TRUE(run.header().contains(member)) << member;
  }
  EXPECT_EQ(run.header().at("run_id").get<std::string>().size(), 16U);
  EXPECT_TRUE(run.header().at("kernels").is_null());
}

TEST(Session, EveryLineEndsInItsChecksum) {
  const auto run = run_simulated("sim", request_for(one_series) + "nonsense\n");
  std::size_t begin = 0;
  for (std::size_t end = run.text.find('\n'); end != std::string::npos; end = run.text.find('\n', begin)) {
    const std::string line = run.text.substr(begin, end - begin);
    const std::size_t body = line.size() - std::string(R"(,"crc32":"00000000"})").size();
    EXPECT_EQ(with_crc32(line.substr(0, body) + "}"), line);
    begin = end + 1;
  }
}

TEST(Session, CopiesIdVisitLaunchAndTagFromTheRequest) {
  RunSettings settings;
  settings.launch = 3;
  const auto run = run_simulated("sim",
                                 R"({"type":"measure","id":9,"visit":2,"tag":{"purpose":"bisect","x":[1]},"series":[)" +
                                     std::string(one_series) + "]}\n",
                                 settings);
  const auto record = run.of_type("record").at(0);
  EXPECT_EQ(record.at("id"), 9);
  EXPECT_EQ(record.at("visit"), 2);
  EXPECT_EQ(record.at("launch"), 3);
  EXPECT_EQ(record.at("tag").dump(), R"({"purpose":"bisect","x":[1]})");
  EXPECT_EQ(record.at("payload"), "ok");
  EXPECT_TRUE(record.at("placement_ns").is_null());
  EXPECT_FALSE(record.contains("reference"));
}

TEST(Session, AnswersABadRequestAndGoesOn) {
  const auto run = run_simulated("sim", "nonsense\n" + request_for(one_series));
  EXPECT_EQ(run.exit_code, 0);
  EXPECT_EQ(run.of_type("error").at(0).at("exit"), 2);
  EXPECT_EQ(run.of_type("error").at(0).at("message"), "a request must be one JSON object on one line");
  EXPECT_EQ(run.of_type("record").size(), 1U);
  EXPECT_EQ(run.footer().at("records"), 1);
}

TEST(Session, AnswersForAllRanksWhereOnlyTheRoundTripShowsThatARequestTakesTooLong) {
  const std::string slow = R"({"pattern":"prtt","message_bytes":1,"train":1000000,"delay_ns":"rtt"})";
  const auto run = run_simulated("sim:L=100ms", request_for(slow) + request_for(one_series));
  EXPECT_EQ(run.of_type("error").size(), 1U);
  EXPECT_EQ(run.of_type("record").size(), 1U);
}

TEST(Session, EndsAtQuitWhateverFollows) {
  const auto run = run_simulated("sim", "{\"type\":\"quit\"}\n" + request_for(one_series));
  EXPECT_EQ(run.of_type("record").size(), 0U);
  EXPECT_EQ(run.footer().at("complete"), true);
}

TEST(Session, StopsAtTheAskedPrecision) {
  const auto run =
      run_simulated("sim:noise=0.05,seed=1", R"({"type":"measure","stop":{"relative_half_width":0.01,"min_samples":10,)"
                                             R"("max_samples":100000,"budget_ns":20000000000},"series":[)" +
                                                 std::string(one_series) + "]}\n");
  const auto record = run.of_type("record").at(0);
  EXPECT_EQ(record.at("stopped"), "precision");
  EXPECT_LE(record.at("relative_half_width").get<double>(), 0.01);
  EXPECT_GT(record.at("series").at(0).at("samples_ns").size(), 30U);
}

TEST(Session, StopsAtTheBudgetWithAFewSamplesAtLeast) {
  const auto run =
      run_simulated("sim:noise=0.5", R"({"type":"measure","stop":{"relative_half_width":0,"min_samples":1000,)"
                                     R"("max_samples":1000000,"budget_ns":1},"series":[)" +
                                         std::string(one_series) + "]}\n");
  const auto record = run.of_type("record").at(0);
  EXPECT_EQ(record.at("stopped"), "budget");
  EXPECT_EQ(record.at("series").at(0).at("samples_ns").size(), 2U + 3U);
}

TEST(Session, GivesTheSameSamplesForTheSameSeedOnly) {
  const auto samples = [](const std::string& target, int launch) {
    RunSettings settings;
    settings.launch = launch;
    return run_simulated(target, request_for(one_series, 50), settings).of_type("record").at(0).at("series").at(0);
  };
  EXPECT_EQ(samples("sim:noise=0.1,seed=1", 0), samples("sim:noise=0.1,seed=1", 0));
  EXPECT_NE(samples("sim:noise=0.1,seed=1", 0), samples("sim:noise=0.1,seed=2", 0));
  EXPECT_NE(samples("sim:noise=0.1,seed=1", 0), samples("sim:noise=0.1,seed=1", 1));
}

TEST(Session, RanksBeyondTheSecondLookOn) {
  const auto run = run_simulated("sim:ranks=5", request_for(one_series));
  EXPECT_EQ(run.header().at("ranks"), 5);
  EXPECT_EQ(run.of_type("record").size(), 1U);
}

TEST(Session, RefusesWrongOptionsBeforeItBegins) {
  EXPECT_THROW((void)run_simulated("sim:noise=x", ""), UsageError);
  EXPECT_THROW((void)run_simulated("ethernet", ""), UsageError);
}

// Signals can't be unseen, so this happens in a process of its own.
TEST(SessionDeathTest, InterruptedRunHasAFooterThatSaysSo) {
  EXPECT_EXIT(
      {
        watch_for_interruption();
        std::raise(SIGTERM);
        const auto run = run_simulated("sim", request_for(one_series));
        const bool says_so = run.footer().at("complete") == false && run.footer().at("reason") == "interrupted";
        std::_Exit(says_so ? run.exit_code : 1);
      },
      ::testing::ExitedWithCode(130), "");
}

TEST(Registry, NamesTheTransportsThereAre) {
  try {
    (void)find_transport("ethernet");
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_NE(std::string(error.what()).find("this probe has sim"), std::string::npos);
  }
}

}  // namespace
}  // namespace chiplog
