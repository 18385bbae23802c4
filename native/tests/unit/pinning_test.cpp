#include "core/pinning.hpp"

#include <gtest/gtest.h>

#include <thread>

#include "chiplog/error.hpp"
#include "core/machine.hpp"

namespace chiplog {
namespace {

TEST(Pinning, ReadsAutoNoneAndAList) {
  EXPECT_EQ(parse_pin("auto", 2).kind, PinRequest::Kind::automatic);
  EXPECT_EQ(parse_pin("none", 2).kind, PinRequest::Kind::none);
  EXPECT_EQ(parse_pin("3,1", 2).cpus, (std::vector<int>{3, 1}));
}

TEST(Pinning, RefusesListsThatDoNotFitTheRanks) {
  for (const char* list : {"0", "0,1,2", "", "0,", "a,b", "-1,0"}) {
    EXPECT_THROW((void)parse_pin(list, 2), UsageError) << list;
  }
}

TEST(Pinning, BindsTheCallingThreadToOneAllowedCpu) {
  std::thread([] {
    const std::vector<int> before = allowed_cpus();
    pin_rank(parse_pin("auto", 2), 1);
    const std::vector<int> after = allowed_cpus();
    ASSERT_EQ(after.size(), 1U);
    EXPECT_EQ(after.front(), before[1 % before.size()]);
  }).join();
}

TEST(Pinning, RefusesACpuThatIsNotAllowed) {
  std::thread([] { EXPECT_THROW(pin_rank(parse_pin("1023,1022", 2), 0), UsageError); }).join();
}

}  // namespace
}  // namespace chiplog
