// The list of transports is the one in src/transports/list.inc: who is in it is tested.
#include <gtest/gtest.h>

#include <algorithm>

#include "transports/registry.hpp"
#include "worlds.hpp"

namespace chiplog::conformance {
namespace {

TEST(EveryTransport, OfTheListRunsThroughAllSuites) {
  const std::vector<std::string>& tested = transports_with_worlds();
  for (const TransportEntry* entry : transports()) {
    EXPECT_NE(std::find(tested.begin(), tested.end(), entry->name), tested.end())
        << entry->name << " is in list.inc, but no file of native/tests/conformance includes suites.hpp for it";
  }
}

}  // namespace
}  // namespace chiplog::conformance
