// Every two ranks once: the rounds, and the exact time of each pair on a simulated network.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "patterns/all_pairs.hpp"
#include "simulated_run.hpp"

namespace chiplog {
namespace {

using testing::Json;

// L = 5 us, o_s = 1 us, o_r = 2 us, g = 4 us, G = 1 ns; rank 2 computes three times, the link of 1 and 4 takes twice as
// long.
constexpr double L = 5000.0;
constexpr double o_s = 1000.0;
constexpr double o_r = 2000.0;
constexpr double g = 4000.0;
constexpr double G = 1.0;
constexpr const char* network = "sim:L=5us,o_s=1us,o_r=2us,g=4us,G=1ns,slow=3:2,slow=2:1-4,ranks=";

double cpu_factor(int rank) { return rank == 2 ? 3.0 : 1.0; }
double link_factor(int one, int other) {
  return std::pair(std::min(one, other), std::max(one, other)) == std::pair(1, 4) ? 2.0 : 1.0;
}

double round_trip_ns(int client, int server) {
  return 2.0 * link_factor(client, server) * L + (cpu_factor(client) + cpu_factor(server)) * (o_s + o_r);
}

// The first message leaves after o_s, each further one a gap later; the last one arrives, and its answer comes back.
double window_ns(int client, int server, int window, double bytes) {
  const double link = link_factor(client, server);
  const double wire = link * (bytes - 1.0) * G;
  return cpu_factor(client) * o_s + (window - 1) * (link * g + wire) + wire + 2.0 * link * L +
         cpu_factor(server) * (o_r + o_s) + cpu_factor(client) * o_r;
}

// The only record's series of one round.
Json measure_round(int ranks, int round, const std::string& more) {
  const std::string series =
      R"({"pattern":"all_pairs","round":)" + std::to_string(round) + R"(,"message_bytes":)" + more + "}";
  return testing::run_simulated(network + std::to_string(ranks), testing::request_for(series))
      .of_type("record")
      .at(0)
      .at("series")
      .at(0);
}

void expect_each(const Json& series, double (*expected_ns)(int client, int server)) {
  for (const Json& pair : series.at("by_pair")) {
    const int client = pair.at("client");
    const int server = pair.at("server");
    for (const double sample_ns : pair.at("samples_ns")) {
      EXPECT_DOUBLE_EQ(sample_ns / series.at("batch").get<double>(), expected_ns(client, server))
          << client << " and " << server;
    }
  }
}

TEST(SimAllPairs, EveryTwoRanksMeetOnceInDisjointPairs) {
  for (const int ranks : {2, 3, 4, 5, 8, 31, 32}) {
    const int rounds = ranks % 2 == 0 ? ranks - 1 : ranks;
    std::set<std::pair<Rank, Rank>> met;
    for (int round = 0; round < rounds; ++round) {
      SeriesSetup setup{.pattern = &patterns::AllPairs::pattern, .ranks = ranks};
      setup.settings[0] = round;
      std::set<Rank> busy;
      for (const Link& link : setup.pattern->links(setup)) {
        EXPECT_TRUE(met.insert({link.client, link.server}).second) << link.client << " and " << link.server;
        EXPECT_TRUE(busy.insert(link.client).second && busy.insert(link.server).second);
      }
      EXPECT_EQ(busy.size(), static_cast<std::size_t>(ranks / 2 * 2));
    }
    EXPECT_EQ(met.size(), static_cast<std::size_t>(ranks * (ranks - 1) / 2));
  }
}

TEST(SimAllPairs, TimesEveryRoundTripExactlyBesideASlowRankAndASlowPair) {
  for (const int ranks : {6, 5}) {
    for (int round = 0; round < 5; ++round) {
      for (const char* at_once : {"0", "1"}) {
        const Json series = measure_round(ranks, round, std::string(R"(1,"at_once":)") + at_once);
        EXPECT_EQ(series.at("by_pair").size(), static_cast<std::size_t>(ranks / 2));
        expect_each(series, round_trip_ns);
      }
    }
  }
}

TEST(SimAllPairs, TimesEveryWindowExactlyBesideASlowRankAndASlowPair) {
  for (int round = 0; round < 5; ++round) {
    for (const char* at_once : {"0", "1"}) {
      const Json series =
          measure_round(6, round, std::string(R"(10000,"direction":"one-way","window":4,"at_once":)") + at_once);
      EXPECT_EQ(series.at("direction"), "one-way");
      for (const Json& pair : series.at("by_pair")) {
        const int client = pair.at("client");
        const int server = pair.at("server");
        for (const double sample_ns : pair.at("samples_ns")) {
          EXPECT_DOUBLE_EQ(sample_ns, window_ns(client, server, 4, 10'000.0)) << client << " and " << server;
        }
      }
    }
  }
}

TEST(SimAllPairs, ListedPairsAreMeasuredAsListedOrTurned) {
  for (const bool turned : {false, true}) {
    for (const char* at_once : {"0", "1"}) {
      const Json series =
          measure_round(6, 0,
                        std::string(R"(10000,"direction":"one-way","window":4,"links":[[4,1],[2,5]],)") +
                            R"("turned":)" + (turned ? "1" : "0") + R"(,"at_once":)" + at_once);
      std::set<std::pair<int, int>> met;
      for (const Json& pair : series.at("by_pair")) {
        const int client = pair.at("client");
        const int server = pair.at("server");
        met.insert({client, server});
        for (const double sample_ns : pair.at("samples_ns")) {
          EXPECT_DOUBLE_EQ(sample_ns, window_ns(client, server, 4, 10'000.0)) << client << " and " << server;
        }
      }
      EXPECT_EQ(met, turned ? (std::set<std::pair<int, int>>{{1, 4}, {5, 2}})
                            : (std::set<std::pair<int, int>>{{4, 1}, {2, 5}}));
    }
  }
}

TEST(SimAllPairs, AListedRankMustBeThere) {
  const SeriesSetup setup{.pattern = &patterns::AllPairs::pattern,
                          .ranks = 4,
                          .links = std::make_shared<const std::vector<Link>>(std::vector<Link>{{0, 4}})};
  const auto refusal = setup.pattern->refuse(setup);
  ASSERT_TRUE(refusal.has_value());
  EXPECT_EQ(refusal->field, "links");
  EXPECT_EQ(refusal->sentence, "accepts ranks 0 to 3, not 4");
}

TEST(SimAllPairs, InATurnedRoundTheHigherRankIsTheClient) {
  const Json series = measure_round(6, 0, R"(10000,"direction":"one-way","window":4,"turned":1)");
  EXPECT_EQ(series.at("turned"), 1);
  for (const Json& pair : series.at("by_pair")) {
    const int client = pair.at("client");
    const int server = pair.at("server");
    EXPECT_GT(client, server);
    for (const double sample_ns : pair.at("samples_ns"))
      EXPECT_DOUBLE_EQ(sample_ns, window_ns(client, server, 4, 10'000.0)) << client << " and " << server;
  }
}

TEST(SimAllPairs, ASampleOfTheSeriesIsThatOfItsSlowestPair) {
  const Json series = measure_round(6, 0, "1");
  double slowest_ns = 0.0;
  for (const Json& pair : series.at("by_pair"))
    slowest_ns = std::max(slowest_ns, pair.at("samples_ns").at(0).get<double>());
  EXPECT_EQ(series.at("samples_ns").at(0), slowest_ns);
  EXPECT_EQ(series.at("round"), 0);
  EXPECT_EQ(series.at("at_once"), 1);
}

TEST(SimAllPairs, RefusesARoundThatThereIsNot) {
  const auto run = testing::run_simulated(
      "sim:ranks=6", testing::request_for(R"({"pattern":"all_pairs","round":5,"message_bytes":1})"));
  EXPECT_EQ(run.of_type("error").at(0).at("message"), "field 'series[0].round' accepts 0 to 4 with 6 ranks, not 5");
}

TEST(SimAllPairs, OtherPatternsKnowNoRounds) {
  const auto run =
      testing::run_simulated("sim", testing::request_for(R"({"pattern":"prtt","round":0,"message_bytes":1})"));
  EXPECT_NE(run.of_type("error").at(0).at("message").get<std::string>().find("unknown field 'series[0].round'"),
            std::string::npos);
}

}  // namespace
}  // namespace chiplog
