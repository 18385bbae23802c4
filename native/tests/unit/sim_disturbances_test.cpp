// Noise, drift and states of the simulated machine have the sizes that were asked for.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "chiplog/error.hpp"
#include "simulated_run.hpp"
#include "transports/sim/disturbances.hpp"
#include "transports/sim/parameters.hpp"

namespace chiplog {
namespace {

using testing::Json;
using testing::request_for;
using testing::run_simulated;

constexpr const char* series = R"({"pattern":"prtt","message_bytes":1000,"train":1})";
constexpr double truth_ns = 2 * (5000 + 1000 + 1000 + 999 * 0.5);

std::vector<double> logarithms(const std::string& options, int samples = 20'000) {
  const auto run = run_simulated("sim:seed=3," + options, request_for(series, samples));
  auto found = run.of_type("record").at(0).at("series").at(0).at("samples_ns").get<std::vector<double>>();
  for (double& sample : found) sample = std::log(sample / truth_ns);
  return found;
}

double mean(const std::vector<double>& numbers) {
  return std::accumulate(numbers.begin(), numbers.end(), 0.0) / static_cast<double>(numbers.size());
}

// Of the numbers with those `lag` places behind them.
double covariance(const std::vector<double>& numbers, std::size_t lag) {
  const double middle = mean(numbers);
  double sum = 0.0;
  for (std::size_t i = lag; i < numbers.size(); ++i) sum += (numbers[i] - middle) * (numbers[i - lag] - middle);
  return sum / static_cast<double>(numbers.size() - lag);
}

double quantile(std::vector<double> numbers, double share) {
  std::sort(numbers.begin(), numbers.end());
  return numbers[static_cast<std::size_t>(share * static_cast<double>(numbers.size()))];
}

TEST(SimNoise, OfTheSkewedKindHasTheSameMedianAndSpreadAndALongTailAbove) {
  const auto found = logarithms("noise=0.05,noise-kind=skewed");
  EXPECT_NEAR(quantile(found, 0.5), 0.0, 0.002);
  EXPECT_NEAR(std::sqrt(covariance(found, 0)), 0.05, 0.002);
  EXPECT_NEAR(quantile(found, 0.0), -0.05 * std::log(2.0), 1e-3) << "nothing is faster than that";
  EXPECT_NEAR(quantile(found, 0.99), 0.05 * (std::log(100.0) - std::log(2.0)), 0.015);
}

TEST(SimDrift, IsCorrelatedFromSampleToSample) {
  const auto found = logarithms("drift=0.9:0.05", 100'000);
  const double variance = covariance(found, 0);
  EXPECT_NEAR(std::sqrt(variance), 0.05, 0.003);
  EXPECT_NEAR(mean(found), 0.0, 0.004);
  for (const std::size_t lag : {1U, 3U, 10U}) {
    EXPECT_NEAR(covariance(found, lag) / variance, std::pow(0.9, double(lag)), 0.05);
  }
}

TEST(SimStates, TakeTurnsForTheirShareOfTheTime) {
  const auto found = logarithms("states=1.5:0.3:2ms", 100'000);
  double slow = 0.0;
  std::size_t changes = 0;
  for (std::size_t i = 0; i < found.size(); ++i) {
    const bool is_slow = found[i] > std::log(1.25);
    slow += is_slow ? std::exp(found[i]) : 0.0;
    changes += i > 0 && is_slow != (found[i - 1] > std::log(1.25)) ? 1 : 0;
  }
  double all = 0.0;
  for (const double one : found) all += std::exp(one);
  // About 1700 ms of virtual time hold 250 turns of 2 and 4.7 ms.
  EXPECT_NEAR(slow / all, 0.3, 0.06);
  EXPECT_NEAR(static_cast<double>(changes), 500.0, 130.0);
  EXPECT_NEAR(quantile(found, 0.2), 0.0, 1e-4) << "as fast as ever between them";
  EXPECT_NEAR(quantile(found, 0.9), std::log(1.5), 1e-4);
}

TEST(SimStates, AreWitnessedByTheReferenceAndLeaveDelaysAlone) {
  const std::string target = "sim:L=5us,o=1us,g=2us,seed=1,states=2:0.999:100s";
  const auto run =
      run_simulated(target, request_for(R"({"pattern":"prtt","message_bytes":1,"train":10,"delay_ns":50000})"));
  const Json record = run.of_type("record").at(0);
  EXPECT_NEAR(record.at("reference").at("half_round_trip_ns").get<double>(), 2 * 7000, 0.5);
  EXPECT_NEAR(record.at("reference").at("gap_ns").get<double>(), 2 * 2000, 0.5);
  EXPECT_NEAR(record.at("reference").at("overhead_ns").get<double>(), 2 * 1000, 0.5);
  EXPECT_NEAR(testing::median_ns(record.at("series").at(0)), 4 * 7000 + 9 * (2 * 1000 + 50'000), 0.5);
}

TEST(SimStates, AreNoMatterOfARunWithoutThem) {
  const auto run = run_simulated("sim:noise=0.1", request_for(series));
  EXPECT_FALSE(run.of_type("record").at(0).contains("reference"));
}

TEST(StateHistory, TellsAnyTimeAgainAsItWas) {
  sim::StateHistory history({2.0, 0.5, 1e6}, 7);
  std::vector<double> forwards;
  for (sim::Picoseconds at = 0; at < 100'000'000'000; at += 100'000'000) forwards.push_back(history.factor(at));
  for (std::size_t i = forwards.size(); i-- > 0;) EXPECT_EQ(history.factor(i * 100'000'000), forwards[i]);
  EXPECT_NE(std::count(forwards.begin(), forwards.end(), 2.0), 0);
  EXPECT_NE(std::count(forwards.begin(), forwards.end(), 1.0), 0);
}

TEST(SimDisturbances, RefuseWhatTheyDoNotKnow) {
  for (const char* target :
       {"sim:noise-kind=skewed", "sim:noise=0.1,noise-kind=blue", "sim:drift=0.9", "sim:drift=1:0.1",
        "sim:drift=-0.1:0.1", "sim:drift=0.9:0.1:2", "sim:states=2:0.5", "sim:states=2:1:1ms", "sim:states=0:0.5:1ms",
        "sim:states=2:0.5:1ns", "sim:states=2:0.5:5", "sim:R_C=1GB/s,states=2:0.5:1ms"}) {
    Options options = parse_target(target);
    EXPECT_THROW((void)sim::parse_parameters(options, 0, 2), UsageError) << target;
  }
}

}  // namespace
}  // namespace chiplog
