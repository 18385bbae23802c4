// Transports whose library may be absent where the tests run.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "../left_out.hpp"

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

// Why tests of `Subject` are left out, empty where they are not: in continuous integration all libraries are installed,
// and what is missing there fails.
template <class Subject>
std::string left_out_for() {
  return std::getenv("CI") != nullptr && !needs_device<Subject>() ? std::string() : missing_for<Subject>();
}

// In SetUp of what is left out by `left_out_for`.
#define CHIPLOG_REQUIRE_PRESENT(Subject) ASSERT_EQ(chiplog::testing::missing_for<Subject>(), "");

}  // namespace chiplog::testing
