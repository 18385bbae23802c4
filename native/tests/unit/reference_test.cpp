#include "core/reference.hpp"

#include <gtest/gtest.h>

#include "patterns/list.hpp"

namespace chiplog {
namespace {

// Round trips of 700 ns, trains that are 100 ns longer for each further message, posts of 70 ns; the first round after
// anything else is cold.
class Steady final : public Endpoint {
 public:
  [[nodiscard]] std::string transport_name() const override { return "steady"; }
  [[nodiscard]] Patterns patterns() const override { return AllPatterns::facts; }
  [[nodiscard]] Capabilities capabilities() override { return {}; }
  [[nodiscard]] std::size_t max_posted_sends() const override { return 64; }
  [[nodiscard]] std::string options_json() override { return "{}"; }
  [[nodiscard]] std::vector<Counter> counters() override { return {}; }
  [[nodiscard]] Hosts hosts() override { return Hosts::real; }
  [[nodiscard]] std::string mpi_json() override { return "null"; }
  [[nodiscard]] ClockFacts clock_facts() override { return {}; }
  [[nodiscard]] double measured_frequency_hz() override { return 0.0; }
  [[nodiscard]] double busy_wait_overhead_ns() override { return 0.0; }
  void reserve(const SeriesSetup&) override {}
  std::optional<std::string> check_payload(const SeriesSetup&, const Link&) override { return std::nullopt; }
  void sample(std::span<const SeriesSetup> series, std::int64_t rounds, std::span<SeriesSamples> samples) override {
    const double factor = rounds == 1 ? 10.0 : 1.0;
    for (std::size_t i = 0; i < series.size(); ++i) {
      EXPECT_EQ(series[i].message_bytes, 1U);
      const bool posts = series[i].pattern->name == "send_overhead";
      const double one_ns = posts ? 70.0 : 700.0 + 100.0 * static_cast<double>(series[i].train - 1);
      auto& all_ns = samples[i].durations_ns;
      all_ns.insert(all_ns.end(), static_cast<std::size_t>(rounds), factor * one_ns);
    }
  }
};

TEST(Reference, IsUnknownBeforeTheFirstSamples) { EXPECT_FALSE(Reference(AllPatterns::facts).times()); }

TEST(Reference, TellsHalfTheRoundTripTheGapAndThePost) {
  Steady endpoint;
  Reference reference(AllPatterns::facts);
  std::int64_t rounds = 0;
  for (const std::int64_t chunk : {1, 20, 400}) rounds += reference.sample(endpoint, chunk);
  EXPECT_EQ(rounds, 3 * 1 + 3 + 5 + 8) << "a cold round each, and a quarter of the chunk's between 3 and 8";
  const auto times = reference.times();
  ASSERT_TRUE(times);
  EXPECT_DOUBLE_EQ(times->half_round_trip_ns, 350.0);
  EXPECT_DOUBLE_EQ(times->gap_ns, 100.0);
  EXPECT_DOUBLE_EQ(times->overhead_ns, 70.0);
}

}  // namespace
}  // namespace chiplog
