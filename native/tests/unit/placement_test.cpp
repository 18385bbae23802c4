#include "core/placement.hpp"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>

#include "../left_out.hpp"
#include "core/machine.hpp"

namespace chiplog {
namespace {

using std::chrono::microseconds;

// Processes that the system puts on one CPU, as it may on a busy machine, never see each other's flags in time.
void run_on(int cpu) {
  cpu_set_t only;
  CPU_ZERO(&only);
  CPU_SET(cpu, &only);
  sched_setaffinity(0, sizeof only, &only);
}

[[maybe_unused]] const bool two_cpus_are_noted = testing::leave_out(
    "Placement.FlagsGoRoundBetweenTwoProcesses", [] { return allowed_cpus().size() < 2 ? "it needs two CPUs" : ""; });

TEST(Placement, FlagsGoRoundBetweenTwoProcesses) {
  const auto cpus = allowed_cpus();
  ASSERT_GE(cpus.size(), 2U);
  auto page = PlacementPage::make_anonymous();
  ASSERT_TRUE(page);
  constexpr int calls = 100;
  const pid_t child = fork();
  if (child == 0) {
    run_on(cpus[1]);
    for (int call = 0; call < calls; ++call) (void)page->round_trip_ns(1, microseconds(500'000));
    std::_Exit(0);
  }
  cpu_set_t before;
  sched_getaffinity(0, sizeof before, &before);
  run_on(cpus[0]);
  // A CPU that has something else to do spoils a call, but hardly all of them.
  int answered = 0;
  for (int call = 0; call < calls; ++call) {
    const auto round_trip_ns = page->round_trip_ns(0, microseconds(500'000));
    if (!round_trip_ns) continue;
    ++answered;
    EXPECT_GT(*round_trip_ns, 0.0);
  }
  waitpid(child, nullptr, 0);
  sched_setaffinity(0, sizeof before, &before);
  EXPECT_GT(answered, 0);
}

TEST(Placement, IsUnknownIfThePeerDoesNotAnswer) {
  auto page = PlacementPage::make_anonymous();
  ASSERT_TRUE(page);
  EXPECT_FALSE(page->round_trip_ns(0, microseconds(100)));
  EXPECT_FALSE(page->round_trip_ns(1, microseconds(100)));
}

}  // namespace
}  // namespace chiplog
