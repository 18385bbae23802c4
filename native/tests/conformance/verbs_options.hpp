// Which RDMA devices are tested: CHIPLOG_TEST_RDMA_DEVICES names those of the two ranks, "rxe0+rxe1".
#pragma once

#include <cstdlib>
#include <string>

#include "transports/verbs/verbs.hpp"

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

}  // namespace chiplog::conformance
