// Transports whose library may be absent where the tests run.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

namespace chiplog::testing {

// Why there are no tests of `Subject` on this machine; one without `missing` always has them.
template <class Subject>
std::string missing_for() {
  if constexpr (requires { Subject::missing(); }) return Subject::missing();
  return {};
}

// Not in continuous integration, where everything is installed.
#define CHIPLOG_SKIP_UNLESS_PRESENT(Subject)                                            \
  if (const std::string why = chiplog::testing::missing_for<Subject>(); !why.empty()) { \
    if (std::getenv("CI") != nullptr) FAIL() << why;                                    \
    GTEST_SKIP() << why;                                                                \
  }

}  // namespace chiplog::testing
