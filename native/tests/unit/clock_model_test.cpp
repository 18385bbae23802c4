#include "../../apps/chiplog-bench/clock_model.hpp"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace chiplog::bench {
namespace {

constexpr double second_ns = 1e9;

// Points every millisecond of a clock that is 5 ms ahead and drifts, with noise of the given deviation.
std::vector<OffsetPoint> points_with(double drift, double noise_ns) {
  std::mt19937 random(7);
  std::normal_distribution<double> noise(0, noise_ns > 0 ? noise_ns : 1);
  std::vector<OffsetPoint> points;
  for (int i = 0; i < 50; ++i) {
    const double local = 1e15 + i * 1e6;
    points.push_back({local, 5e6 + drift * i * 1e6 + (noise_ns > 0 ? noise(random) : 0)});
  }
  return points;
}

TEST(ClockModel, FindsAPlantedDriftAndForeseesTheOffset) {
  const ClockModel model = fit_clock(points_with(2e-5, 0));
  EXPECT_NEAR(model.drift, 2e-5, 1e-12);
  EXPECT_LT(model.residual_ns, 0.1);
  const double later = 1e15 + second_ns;
  EXPECT_NEAR(model.global_ns(later) - later, 5e6 + 2e-5 * second_ns, 1);
}

TEST(ClockModel, SaysHowLargeTheResidualIs) {
  const ClockModel model = fit_clock(points_with(2e-5, 30));
  EXPECT_NEAR(model.drift, 2e-5, 1e-6);
  EXPECT_NEAR(model.residual_ns, 30, 12);
}

TEST(ClockModel, LeavesOutADriftThatNoiseCanMake) {
  const ClockModel model = fit_clock(points_with(0, 30));
  EXPECT_EQ(model.drift, 0);
  const double later = 1e15 + second_ns;
  EXPECT_NEAR(model.global_ns(later) - later, 5e6, 20);
}

TEST(ClockModel, IsTheLocalClockWithoutPointsAndAnOffsetWithOne) {
  EXPECT_EQ(fit_clock({}).global_ns(42), 42);
  const ClockModel one = fit_clock({{100, 7}});
  EXPECT_EQ(one.drift, 0);
  EXPECT_EQ(one.global_ns(1000), 1007);
}

}  // namespace
}  // namespace chiplog::bench
