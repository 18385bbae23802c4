#include "core/random.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace chiplog {
namespace {

// The first outputs of SplitMix64 from state 1234567, as its authors' reference code gives them.
TEST(Random, SplitMixAgreesWithItsReference) {
  EXPECT_EQ(split_mix(1234567), 6457827717110365317U);
  EXPECT_EQ(split_mix(1234567 + 0x9e3779b97f4a7c15U), 3203168211198807973U);
}

TEST(Random, GivesTheSameNumbersForTheSameSeed) {
  Random a(42);
  Random b(42);
  Random other(43);
  const std::uint64_t first = a.bits();
  EXPECT_EQ(first, b.bits());
  EXPECT_NE(first, other.bits());
}

TEST(Random, DrawsFromTheStandardNormalDistribution) {
  Random random(7);
  constexpr int count = 100'000;
  double sum = 0.0;
  double sum_of_squares = 0.0;
  int within_one = 0;
  for (int i = 0; i < count; ++i) {
    const double value = random.standard_normal();
    sum += value;
    sum_of_squares += value * value;
    if (std::abs(value) < 1.0) ++within_one;
  }
  EXPECT_NEAR(sum / count, 0.0, 0.015);
  EXPECT_NEAR(sum_of_squares / count, 1.0, 0.02);
  EXPECT_NEAR(double(within_one) / count, 0.6827, 0.007);
}

TEST(Random, UniformStaysBelowOne) {
  Random random(9);
  for (int i = 0; i < 10'000; ++i) {
    const double value = random.uniform();
    ASSERT_GE(value, 0.0);
    ASSERT_LT(value, 1.0);
  }
}

}  // namespace
}  // namespace chiplog
