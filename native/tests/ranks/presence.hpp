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

// Devices, unlike libraries, can't be installed.
template <class Subject>
constexpr bool needs_device() {
  if constexpr (requires { Subject::needs_device; }) return Subject::needs_device;
  return false;
}

// In continuous integration all libraries are installed.
#define CHIPLOG_SKIP_UNLESS_PRESENT(Subject)                                                       \
  if (const std::string why = chiplog::testing::missing_for<Subject>(); !why.empty()) {            \
    if (std::getenv("CI") != nullptr && !chiplog::testing::needs_device<Subject>()) FAIL() << why; \
    GTEST_SKIP() << why;                                                                           \
  }

}  // namespace chiplog::testing
