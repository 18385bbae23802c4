#include <gtest/gtest.h>

#include "../left_out.hpp"
#include "core/clock_step.hpp"
#include "core/machine_clock.hpp"
#include "patterns/busy_wait.hpp"

namespace chiplog {
namespace {

TEST(ClockStep, FindsACoarseStepThatFastReadsShow) {
  const std::vector<std::uint64_t> reads{0, 0, 25, 25, 50, 100, 100, 125};
  EXPECT_EQ(clock_step(reads), 25U);
}

// A hypervisor that scales the counter turns steps of 25 into 24 and 26 at times.
TEST(ClockStep, SeesThroughTheRoundingOfAScaledCounter) {
  std::vector<std::uint64_t> reads{0};
  for (int i = 0; i < 100; ++i) reads.push_back(reads.back() + (i % 3 == 0 ? 24 : i % 3 == 1 ? 26 : 50));
  EXPECT_EQ(clock_step(reads), 24U);
}

TEST(ClockStep, FindsAFineStepBelowTheTimeOfARead) {
  std::vector<std::uint64_t> reads{0};
  for (const std::uint64_t advance : {18, 20, 22, 24, 26, 28, 34, 40}) reads.push_back(reads.back() + advance);
  EXPECT_EQ(clock_step(reads), 2U);
}

TEST(ClockStep, IsZeroForAClockThatStands) { EXPECT_EQ(clock_step(std::vector<std::uint64_t>(5, 7)), 0U); }

TEST(ClockStep, TakesTheMedianForTheCostOfARead) {
  EXPECT_DOUBLE_EQ(median_advance(std::vector<std::uint64_t>{0, 10, 20, 1000, 1010}), 10.0);
}

template <class C>
void expect_sound(C& clock) {
  EXPECT_GT(clock.resolution_ns(), 0.0);
  EXPECT_GT(clock.overhead_ns(), 0.0);
  const std::uint64_t raw_begin = raw_now_ns();
  const Ticks begin = clock.now();
  clock.busy_wait(200e3);
  const Ticks end = clock.now();
  const std::uint64_t raw_end = raw_now_ns();
  const double waited_ns = clock.interval_ns(begin, end);
  EXPECT_GE(waited_ns, 199e3);
  // The kernel's clock was read outside of the interval, so it can't have seen less, but for its calibration.
  EXPECT_LE(waited_ns, 1.001 * static_cast<double>(raw_end - raw_begin));
}

[[maybe_unused]] const bool counter_is_noted = testing::leave_out("MachineClock.CounterAgreesWithTheKernelsClock", [] {
  std::string why_not;
  return CounterClock::make(why_not) ? std::string() : why_not;
});

TEST(MachineClock, CounterAgreesWithTheKernelsClock) {
  std::string why_not;
  auto clock = CounterClock::make(why_not);
  ASSERT_TRUE(clock) << why_not;
  expect_sound(*clock);
  EXPECT_LT(clock->frequency_relative_error(), 1e-3);
  EXPECT_NEAR(clock->measured_frequency_hz() / clock->frequency_hz(), 1.0, 1e-3);
}

TEST(MachineClock, KernelsClockIsSound) {
  RawClock clock;
  expect_sound(clock);
}

// Rounds every wait up to a step of 10 ns, as a coarse counter does.
struct SteppedClock {
  using Abilities = AbilityList<>;

  double time_ns = 0.0;
  [[nodiscard]] Ticks now() const { return static_cast<Ticks>(time_ns); }
  static double interval_ns(Ticks begin, Ticks end) { return static_cast<double>(end - begin); }
  static double resolution_ns() { return 10.0; }
  static double overhead_ns() { return 0.0; }
  static std::string_view name() { return "stepped"; }
  // 7 ns before its first look at the time.
  Ticks busy_wait(double nanoseconds) {
    const auto waited = 10 * (static_cast<Ticks>(nanoseconds / 10.0) + 1);
    time_ns += 7.0 + static_cast<double>(waited);
    return waited;
  }
};
static_assert(Clock<SteppedClock>);

TEST(BusyWait, TellsWhatItReallyTookAndWhatItTakesBeyond) {
  SteppedClock clock;
  EXPECT_DOUBLE_EQ(patterns::waited_ns(clock, clock.busy_wait(123.0)), 130.0);
  EXPECT_DOUBLE_EQ(patterns::busy_wait_overhead_ns(clock), 7.0);
}

}  // namespace
}  // namespace chiplog
