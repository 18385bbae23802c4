// Cases that don't apply where the tests run. They are not listed, so that nobody counts them as passed.
#pragma once

#include <functional>
#include <string>

namespace chiplog::testing {

// Leaves out the tests that match a pattern as for --gtest_filter if `reason` returns one. It is asked before the tests
// are listed or run. The result lets a variable in namespace scope do the call.
bool leave_out(const std::string& pattern, std::function<std::string()> reason);

}  // namespace chiplog::testing
