#include "analysis/segmentation.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <limits>
#include <stdexcept>
#include <utility>
#include <vector>

namespace chiplog::analysis {
namespace {

struct TimeSeries {
  std::vector<double> bytes;
  std::vector<double> seconds;
  std::vector<double> weights;

  void add(double size, double time) {
    bytes.push_back(size);
    seconds.push_back(time);
    weights.push_back(1.0 / (time * time));
  }
  [[nodiscard]] Segmenter segmenter(Limits limits = {}) const { return {bytes, seconds, weights, limits}; }
};

// From 1 B to 64 MiB, two sizes an octave; the lines change after `limits` bytes.
TimeSeries protocols(const std::vector<Line>& lines, const std::vector<double>& limits) {
  TimeSeries made;
  for (int half_octave = 0; half_octave <= 52; ++half_octave) {
    const double size = std::round(std::pow(2.0, half_octave / 2.0));
    if (!made.bytes.empty() && size <= made.bytes.back()) continue;
    std::size_t protocol = 0;
    while (protocol < limits.size() && size > limits[protocol]) ++protocol;
    made.add(size, lines[protocol](size));
  }
  return made;
}

TEST(Segmentation, GivesBackTheLinesOfThreeProtocolsFromOneByteTo64MiB) {
  const std::vector<Line> lines{{5e-6, 0.5e-9}, {20e-6, 0.25e-9}, {90e-6, 0.2e-9}};
  const TimeSeries made = protocols(lines, {8192.0, 1048576.0});
  const Segmenter segmenter = made.segmenter();
  const std::vector<Segmentation> solutions = segmenter.solve(3);
  ASSERT_EQ(solutions.size(), 3U);
  const std::vector<std::size_t>& begins = solutions[2].begins;
  ASSERT_EQ(begins.size(), 3U);
  EXPECT_GT(made.bytes[begins[1]], 8192.0);
  EXPECT_LE(made.bytes[begins[1] - 1], 8192.0);
  EXPECT_GT(made.bytes[begins[2]], 1048576.0);
  EXPECT_LE(made.bytes[begins[2] - 1], 1048576.0);
  EXPECT_LT(solutions[2].cost, 1e-13);
  for (std::size_t k = 0; k < 3; ++k) {
    const Line line = segmenter.line(begins[k], k < 2 ? begins[k + 1] : segmenter.size());
    EXPECT_NEAR(line.intercept_seconds, lines[k].intercept_seconds, 1e-9 * lines[k].intercept_seconds);
    EXPECT_NEAR(line.slope_seconds_per_byte, lines[k].slope_seconds_per_byte, 1e-9 * lines[k].slope_seconds_per_byte);
  }
}

TEST(Segmentation, MoreSegmentsNeverCostMore) {
  TimeSeries made = protocols({{5e-6, 0.5e-9}, {9e-6, 0.4e-9}}, {4096.0});
  for (std::size_t i = 0; i < made.bytes.size(); ++i) made.seconds[i] *= 1.0 + 0.01 * std::sin(7.0 * double(i));
  const std::vector<Segmentation> solutions = made.segmenter().solve(8);
  for (std::size_t k = 1; k < solutions.size(); ++k) EXPECT_LE(solutions[k].cost, solutions[k - 1].cost * (1 + 1e-12));
}

TEST(Segmentation, NeitherInterceptNorSlopeIsEverNegative) {
  TimeSeries falling;
  TimeSeries steep;
  for (double size = 100.0; size <= 1000.0; size += 100.0) {
    falling.add(size, 2e-6 - 1e-9 * size);
    steep.add(size, 1e-9 * size * size);
  }
  const Line constant = falling.segmenter().line(0, 10);
  EXPECT_EQ(constant.slope_seconds_per_byte, 0.0);
  EXPECT_GT(constant.intercept_seconds, 0.0);
  const Line proportional = steep.segmenter().line(0, 10);
  EXPECT_EQ(proportional.intercept_seconds, 0.0);
  EXPECT_GT(proportional.slope_seconds_per_byte, 0.0);
}

TEST(Segmentation, ASegmentIsLongEnoughBySizesFactorAndBytes) {
  TimeSeries octaves;
  for (double size = 1.0; size <= 4096.0; size *= 2.0) octaves.add(size, 1e-6);
  const Segmenter sparse = octaves.segmenter();
  EXPECT_FALSE(sparse.admissible(0, 6)) << "1 to 32 B is less than a cache line";
  EXPECT_TRUE(sparse.admissible(0, 7));
  EXPECT_TRUE(sparse.admissible(10, 13)) << "three sizes over a factor of 4";
  EXPECT_FALSE(sparse.admissible(11, 13)) << "two sizes";

  TimeSeries dense;
  for (double size = 1000.0; size <= 2000.0; size += 50.0) dense.add(size, 1e-6);
  EXPECT_FALSE(dense.segmenter().admissible(0, 10)) << "1000 to 1450 is less than a factor of 1.5";
  EXPECT_TRUE(dense.segmenter().admissible(0, 11));
}

TEST(Segmentation, ASeriesTooShortToPartIsOneSegment) {
  TimeSeries made;
  made.add(1.0, 1e-6);
  made.add(2.0, 1e-6);
  const std::vector<Segmentation> solutions = made.segmenter().solve(4);
  ASSERT_EQ(solutions.size(), 1U);
  EXPECT_EQ(solutions[0].begins, std::vector<std::size_t>{0});
  EXPECT_EQ(best_split(made.bytes, made.seconds, made.weights).begin, 0U);
}

TEST(Segmentation, TheBestSplitIsTheOptimumForTwoSegments) {
  TimeSeries made = protocols({{5e-6, 0.5e-9}, {7e-6, 0.45e-9}}, {16384.0});
  for (std::size_t i = 0; i < made.bytes.size(); ++i) made.seconds[i] *= 1.0 + 0.02 * std::cos(3.0 * double(i * i));
  const Segmentation two = made.segmenter().solve(2)[1];
  const Split split = best_split(made.bytes, made.seconds, made.weights);
  EXPECT_EQ(split.begin, two.begins[1]);
  EXPECT_NEAR(split.cost, two.cost, 1e-9 * two.cost);
}

TEST(Segmentation, SettlingFindsTheBestPlaceAgain) {
  const TimeSeries made = protocols({{5e-6, 0.5e-9}, {20e-6, 0.5e-9}}, {16384.0});
  const Segmenter segmenter = made.segmenter();
  const Segmentation best = segmenter.solve(2)[1];
  EXPECT_EQ(segmenter.settle({0, best.begins[1] - 5}).begins, best.begins);
}

TEST(Segmentation, RejectsWhatIsNoSeries) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const std::vector<double> ok{1.0, 2.0};
  const std::vector<std::pair<std::vector<double>, std::vector<double>>> bad_bytes_and_seconds{
      {{}, {}}, {{2.0, 1.0}, ok}, {{1.0, 1.0}, ok}, {{0.0, 1.0}, ok}, {{1.0, nan}, ok}, {ok, {1.0, nan}}, {ok, {1.0}}};
  for (const auto& [bytes, seconds] : bad_bytes_and_seconds)
    EXPECT_THROW(Segmenter(bytes, seconds, std::vector<double>(bytes.size(), 1.0)), std::invalid_argument);
  EXPECT_THROW(Segmenter(ok, ok, std::vector<double>{1.0, 0.0}), std::invalid_argument);
}

}  // namespace
}  // namespace chiplog::analysis
