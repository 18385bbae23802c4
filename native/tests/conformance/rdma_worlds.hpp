// Worlds that need RDMA devices; where there are none, testbeds/qemu makes them. CHIPLOG_TEST_RDMA_DEVICES names those
// of the two ranks, "rxe0+rxe1".
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "transports/verbs/verbs.hpp"
#include "worlds.hpp"

namespace chiplog::conformance {

inline VerbsOptions verbs_options() {
  const char* named = std::getenv("CHIPLOG_TEST_RDMA_DEVICES");
  VerbsOptions options;
  if (named == nullptr) return options;
  const std::string devices(named);
  const std::size_t plus = devices.find('+');
  options.devices.push_back(devices.substr(0, plus));
  if (plus != std::string::npos) options.devices.push_back(devices.substr(plus + 1));
  return options;
}

inline VerbsTransport make_verbs(Bootstrap& bootstrap) { return {bootstrap, verbs_options(), time_limit}; }
// Event-driven, and nothing travels inside a request.
inline VerbsTransport make_event_verbs(Bootstrap& bootstrap) {
  VerbsOptions options = verbs_options();
  options.waiting = verbs::Waiting::event;
  options.inline_bytes = 0;
  return {bootstrap, options, time_limit};
}

struct VerbsWorld : ForkedWorld<VerbsTransport, make_verbs> {
  static constexpr bool refuses_wrong_keys = true;
};

using RdmaWorlds = ::testing::Types<VerbsWorld, ForkedWorld<VerbsTransport, make_event_verbs>>;
using RdmaRemoteWorlds = ::testing::Types<VerbsWorld>;

}  // namespace chiplog::conformance
