#include "chiplog/median.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

namespace chiplog {
namespace {

TEST(Median, IsTheMiddleOfAnOddNumberOfNumbers) { EXPECT_EQ(median_of({5.0, 1.0, 3.0}), 3.0); }

TEST(Median, IsTheMeanOfTheTwoInTheMiddleOfAnEvenNumber) { EXPECT_EQ(median_of({7.0, 1.0, 5.0, 2.0}), 3.5); }

TEST(Median, OfOneNumberIsThatNumber) { EXPECT_EQ(median_of({4.0}), 4.0); }

TEST(Median, OfWholeNumbersNeedNotBeWhole) {
  std::vector<std::uint64_t> ticks{4, 1};
  EXPECT_EQ(median(ticks), 2.5);
}

}  // namespace
}  // namespace chiplog
