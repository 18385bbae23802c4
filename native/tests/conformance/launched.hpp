// The same cases for a transport whose ranks a launcher starts: to be called from a small main on every rank.
#pragma once

#include <cstdio>
#include <exception>

#include "cases.hpp"

namespace chiplog::conformance {

// Runs what a transport survives, then one truncation. The number of cases that failed on this rank, each reported on
// standard error. Ranks above 1 have nothing to do.
template <Transport T>
int run_launched(T& transport, Rank rank) {
  if (rank > 1) return 0;
  std::vector<Case<T>> cases = lasting_cases<T>();
  cases.push_back({"a long message is truncated", a_long_message_is_truncated<T>});
  int failures = 0;
  for (const Case<T>& one : cases) {
    try {
      one.run(transport, rank);
    } catch (const std::exception& error) {
      std::fprintf(stderr, "rank %d: %s: %s\n", rank, one.name, error.what());
      ++failures;
    }
  }
  return failures;
}

}  // namespace chiplog::conformance
