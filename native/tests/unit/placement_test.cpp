#include "core/placement.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>

#include "core/machine.hpp"

namespace chiplog {
namespace {

using std::chrono::microseconds;

TEST(Placement, FlagsGoRoundBetweenTwoProcesses) {
  auto page = PlacementPage::make_anonymous();
  ASSERT_TRUE(page);
  constexpr int calls = 100;
  const pid_t child = fork();
  if (child == 0) {
    for (int call = 0; call < calls; ++call) (void)page->round_trip_ns(1, microseconds(500'000));
    std::_Exit(0);
  }
  // A CPU that has something else to do spoils a call, but hardly all of them.
  int answered = 0;
  for (int call = 0; call < calls; ++call) {
    const auto round_trip_ns = page->round_trip_ns(0, microseconds(500'000));
    if (!round_trip_ns) continue;
    ++answered;
    EXPECT_GT(*round_trip_ns, 0.0);
  }
  waitpid(child, nullptr, 0);
  if (allowed_cpus().size() < 2) GTEST_SKIP() << "two processes can't spin side by side on one CPU";
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
