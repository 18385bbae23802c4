#include "left_out.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <iostream>
#include <map>
#include <utility>
#include <vector>

namespace chiplog::testing {
namespace {

struct Candidate {
  std::string pattern;
  std::function<std::string()> reason;
};

std::vector<Candidate>& candidates() {
  static std::vector<Candidate> all;
  return all;
}

// One line: patterns by their reason, or their number where there are many.
std::string text_of(const std::map<std::string, std::vector<std::string>>& patterns_by_reason) {
  std::string text;
  for (const auto& [reason, patterns] : patterns_by_reason) {
    constexpr std::size_t most_named = 8;
    std::string names = patterns.size() > most_named ? std::to_string(patterns.size()) + " cases" : patterns.front();
    for (std::size_t i = 1; i < patterns.size() && patterns.size() <= most_named; ++i) names += ", " + patterns[i];
    text += (text.empty() ? "left out: " : "; ") + names + " (" + reason + ")";
  }
  return text;
}

// What runs a single test by its name has listed the tests before.
void apply() {
  std::string filter = GTEST_FLAG_GET(filter);
  if (filter.find('*') == std::string::npos) return;
  std::map<std::string, std::vector<std::string>> left_out;
  for (const Candidate& one : candidates()) {
    const std::string reason = one.reason();
    if (reason.empty()) continue;
    left_out[reason].push_back(one.pattern);
    filter += (filter.find('-') == std::string::npos ? "-" : ":") + one.pattern;
  }
  GTEST_FLAG_SET(filter, filter);
  if (!left_out.empty()) std::cerr << text_of(left_out) << '\n';
}

}  // namespace

bool leave_out(const std::string& pattern, std::function<std::string()> reason) {
  candidates().push_back({pattern, std::move(reason)});
  return true;
}

}  // namespace chiplog::testing

int main(int argc, char** argv) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  // UCX would put jumps of its own into mmap and the like, which the sanitizers intercept: with the thread sanitizer
  // every program that loads UCX crashes.
  setenv("UCX_MEM_EVENTS", "n", 1);
#endif
  ::testing::InitGoogleTest(&argc, argv);
  chiplog::testing::apply();
  return RUN_ALL_TESTS();
}
