// The command line of chiplog-bench.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "../../apps/chiplog-bench/options.hpp"
#include "../ranks/outcome.hpp"

namespace chiplog::bench {
namespace {

Options parse(std::vector<std::string> words) {
  words.insert(words.begin(), "chiplog-bench");
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  return parse_options(static_cast<int>(arguments.size()), arguments.data());
}

std::string refusal_of(const std::vector<std::string>& words) {
  return testing::outcome_of([&] { (void)parse(words); });
}

TEST(BenchOptions, AreTakenFromTheCommandLine) {
  const Options options = parse({"--operation", "bcast", "--bytes=16", "--compare", "1", "--sync-points", "7",
                                 "--budget-ns", "2e9", "--seed", "4294967295"});
  EXPECT_EQ(options.operation, "bcast");
  EXPECT_EQ(options.bytes, 16);
  EXPECT_TRUE(options.compare);
  EXPECT_EQ(options.sync.points, 7);
  EXPECT_EQ(options.budget_ns, 2e9);
  EXPECT_EQ(options.seed, 4294967295U);
}

TEST(BenchOptions, ATrailingOptionWithoutItsValueIsRefused) {
  EXPECT_TRUE(
      refusal_of({"--bytes", "8", "--samples"}).starts_with("UsageError: --samples needs a value; it accepts "));
}

TEST(BenchOptions, AnUnknownOneIsRefusedWithThoseThereAre) {
  const std::string refusal = refusal_of({"--bites", "8"});
  EXPECT_TRUE(refusal.starts_with("UsageError: unknown option --bites; it accepts --operation, --type, --bytes, "))
      << refusal;
}

TEST(BenchOptions, AWordThatIsNoOptionIsRefused) {
  EXPECT_TRUE(refusal_of({"--bytes", "8", "16"}).starts_with("UsageError: unexpected word '16'"));
}

TEST(BenchOptions, AValueThatIsNotAcceptedIsNamedWithItsOption) {
  for (const auto& [name, value] : {std::pair{"--bytes", "8x"}, std::pair{"--samples", "0"},
                                    std::pair{"--compare", "2"}, std::pair{"--lead-ns", "-1"}}) {
    const std::string refusal = refusal_of({name, value});
    EXPECT_TRUE(refusal.starts_with("UsageError: " + std::string(name))) << refusal;
  }
}

}  // namespace
}  // namespace chiplog::bench
