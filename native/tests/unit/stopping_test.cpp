#include "chiplog/stopping.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "core/random.hpp"

namespace chiplog {
namespace {

StoppingRule rule_for(double relative_half_width, std::size_t min_samples = 10, std::size_t max_samples = 1000,
                      double resolution = 0.0) {
  return StoppingRule({relative_half_width, min_samples, max_samples, resolution}, 1);
}

void feed(StoppingRule& rule, std::size_t count, double sample) {
  for (std::size_t i = 0; i < count; ++i) rule.add(0, sample);
}

// Binomial(n, 1/2): the textbook's ranks of the 95 % interval of a median, counted from 1.
TEST(MedianInterval, UsesTheRanksOfTheBinomialTable) {
  EXPECT_EQ(lower_order_statistic(6) + 1, 1U);
  EXPECT_EQ(lower_order_statistic(10) + 1, 2U);
  EXPECT_EQ(lower_order_statistic(20) + 1, 6U);
  EXPECT_EQ(lower_order_statistic(50) + 1, 18U);
  EXPECT_EQ(lower_order_statistic(100) + 1, 40U);
}

TEST(MedianInterval, IsInfiniteForFewerThanSixSamples) {
  std::vector<double> samples{1, 2, 3, 4, 5};
  const MedianInterval interval = median_interval(samples);
  EXPECT_DOUBLE_EQ(interval.median, 3.0);
  EXPECT_TRUE(std::isinf(interval.low));
  EXPECT_TRUE(std::isinf(interval.high));
}

TEST(MedianInterval, HardlyMovesWhereTheNormalApproximationBegins) {
  const auto exact = static_cast<double>(lower_order_statistic(400));
  const auto approximate = static_cast<double>(lower_order_statistic(401));
  EXPECT_NEAR(exact, approximate, 1.0);
}

TEST(MedianInterval, CoversTheMedianAsOftenAsItSays) {
  Random random(1);
  int covered = 0;
  constexpr int trials = 4000;
  for (int trial = 0; trial < trials; ++trial) {
    std::vector<double> samples(31);
    for (double& sample : samples) sample = std::exp(random.standard_normal());
    const MedianInterval interval = median_interval(samples);
    if (interval.low <= 1.0 && 1.0 <= interval.high) ++covered;
  }
  EXPECT_GE(covered, trials * 95 / 100);
  EXPECT_LE(covered, trials * 99 / 100);
}

TEST(MedianInterval, AveragesTheTwoMiddleSamples) {
  std::vector<double> samples{4, 1, 3, 2};
  EXPECT_DOUBLE_EQ(median_interval(samples).median, 2.5);
}

TEST(StoppingRule, StopsConstantInputAtTheFewestSamples) {
  StoppingRule rule = rule_for(0.01);
  feed(rule, 9, 5.0);
  EXPECT_EQ(rule.assess().stop, Stop::go_on);
  feed(rule, 1, 5.0);
  const auto verdict = rule.assess();
  EXPECT_EQ(verdict.stop, Stop::precision);
  EXPECT_DOUBLE_EQ(verdict.relative_half_width, 0.0);
}

TEST(StoppingRule, DoesNotTrustEqualReadingsOfACoarseClock) {
  StoppingRule rule = rule_for(0.01, 10, 50, 10.0);
  feed(rule, 20, 100.0);
  EXPECT_DOUBLE_EQ(rule.assess().relative_half_width, 0.05);
  EXPECT_EQ(rule.assess().stop, Stop::go_on);
  feed(rule, 30, 100.0);
  EXPECT_EQ(rule.assess().stop, Stop::samples);
}

TEST(StoppingRule, TakesZerosForPreciseOnlyIfTheClockHasNoStep) {
  StoppingRule exact = rule_for(0.01);
  feed(exact, 10, 0.0);
  EXPECT_EQ(exact.assess().stop, Stop::precision);
  StoppingRule stepped = rule_for(0.01, 10, 20, 1.0);
  feed(stepped, 10, 0.0);
  EXPECT_TRUE(std::isinf(stepped.assess().relative_half_width));
  EXPECT_EQ(stepped.assess().stop, Stop::go_on);
}

TEST(StoppingRule, IsNotFooledByNaN) {
  StoppingRule rule = rule_for(0.01, 10, 40);
  feed(rule, 30, std::numeric_limits<double>::quiet_NaN());
  EXPECT_EQ(rule.assess().stop, Stop::go_on);
  feed(rule, 10, 1.0);
  EXPECT_EQ(rule.assess().stop, Stop::samples);
}

TEST(StoppingRule, BearsAFewNaNAmongGoodSamples) {
  StoppingRule rule = rule_for(0.01);
  feed(rule, 3, std::numeric_limits<double>::quiet_NaN());
  feed(rule, 97, 7.0);
  EXPECT_EQ(rule.assess().stop, Stop::precision);
}

// Half the samples at 1, half at 2: the median's interval spans both modes however many there are.
TEST(StoppingRule, GoesOnWhileTwoModesAreEquallyLikely) {
  StoppingRule rule = rule_for(0.05, 10, 100'000);
  feed(rule, 5000, 1.0);
  feed(rule, 5000, 2.0);
  const auto verdict = rule.assess();
  EXPECT_EQ(verdict.stop, Stop::go_on);
  EXPECT_NEAR(verdict.relative_half_width, 0.5 / 1.5, 1e-12);
}

TEST(StoppingRule, SettlesOnTheStrongerOfTwoModes) {
  StoppingRule rule = rule_for(0.05);
  feed(rule, 70, 1.0);
  feed(rule, 30, 2.0);
  EXPECT_EQ(rule.assess().stop, Stop::precision);
}

TEST(StoppingRule, EndsInputThatNeverConvergesAtTheMostSamples) {
  StoppingRule rule = rule_for(1e-9, 10, 500);
  Random random(3);
  for (int i = 0; i < 499; ++i) rule.add(0, 1.0 + random.uniform());
  EXPECT_EQ(rule.assess().stop, Stop::go_on);
  rule.add(0, 1.5);
  EXPECT_EQ(rule.assess().stop, Stop::samples);
}

TEST(StoppingRule, WaitsForTheWidestOfItsSeries) {
  StoppingRule rule({0.01, 10, 1000, 0.0}, 2);
  for (int i = 0; i < 100; ++i) {
    rule.add(0, 1.0);
    rule.add(1, i % 2 == 0 ? 1.0 : 2.0);
  }
  EXPECT_EQ(rule.assess().stop, Stop::go_on);
}

}  // namespace
}  // namespace chiplog
