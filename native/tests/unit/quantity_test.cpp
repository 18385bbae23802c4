#include "core/quantity.hpp"

#include <gtest/gtest.h>

#include "chiplog/error.hpp"

namespace chiplog {
namespace {

TEST(Quantity, ReadsDurationsInEveryUnit) {
  EXPECT_DOUBLE_EQ(parse_duration_ns("0.5ns", "x"), 0.5);
  EXPECT_DOUBLE_EQ(parse_duration_ns("5us", "x"), 5000.0);
  EXPECT_DOUBLE_EQ(parse_duration_ns("2ms", "x"), 2e6);
  EXPECT_DOUBLE_EQ(parse_duration_ns("1s", "x"), 1e9);
}

TEST(Quantity, TakesABareZeroButNoOtherDurationWithoutUnit) {
  EXPECT_DOUBLE_EQ(parse_duration_ns("0", "x"), 0.0);
  for (const char* text : {"5", "", "us", "-1us", "5 us", "5usec", "nan", "inf", "1e999us"}) {
    EXPECT_THROW((void)parse_duration_ns(text, "x"), UsageError) << text;
  }
}

TEST(Quantity, TellsDecimalFromBinarySizes) {
  EXPECT_EQ(parse_bytes("8KiB", "x"), 8192U);
  EXPECT_EQ(parse_bytes("8kB", "x"), 8000U);
  EXPECT_EQ(parse_bytes("1.5MiB", "x"), 1572864U);
  EXPECT_EQ(parse_bytes("17", "x"), 17U);
}

TEST(Quantity, RefusesSizesThatAreNoWholeBytes) {
  for (const char* text : {"1.5", "-1", "8KB", "8 KiB", "1e300", "KiB"}) {
    EXPECT_THROW((void)parse_bytes(text, "x"), UsageError) << text;
  }
}

TEST(Quantity, ReadsRatesAsASizeASecond) {
  EXPECT_DOUBLE_EQ(parse_bytes_per_second("2.5GB/s", "x"), 2.5e9);
  EXPECT_DOUBLE_EQ(parse_bytes_per_second("1KiB/s", "x"), 1024.0);
  EXPECT_DOUBLE_EQ(parse_bytes_per_second("0B/s", "x"), 0.0);
  for (const char* text : {"5", "5GB", "5/s", "-1GB/s", "5Gb/s", "5 GB/s", "/s", ""}) {
    EXPECT_THROW((void)parse_bytes_per_second(text, "x"), UsageError) << text;
  }
}

TEST(Quantity, NamesTheOptionAndWhatItAccepts) {
  try {
    (void)parse_integer("7x", "--ranks", 2, 64);
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_STREQ(error.what(), "--ranks accepts a whole number from 2 to 64, not '7x'");
  }
}

}  // namespace
}  // namespace chiplog
