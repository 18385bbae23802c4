#include "collectives/settings.hpp"

#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <system_error>

namespace chiplog::collectives {
namespace {

// SimGrid runs all ranks as one program.
#ifdef CHIPLOG_SMPI
constexpr bool simulated = true;
#else
constexpr bool simulated = false;
#endif

constexpr int most_barriers_before = 1'000'000'000;

std::string value_of(const char* variable) {
  const char* value = std::getenv(variable);
  return value == nullptr ? "" : value;
}

// The variable's value if it is a number from `least` to `most`; else `standard`, with a problem where it is set.
int number_of(const char* variable, int least, int most, int standard, std::vector<std::string>& problems) {
  const std::string value = value_of(variable);
  if (value.empty()) return standard;
  int number = 0;
  const char* end = value.data() + value.size();
  const auto [stop, error] = std::from_chars(value.data(), end, number);
  if (error == std::errc{} && stop == end && number >= least && number <= most) return number;
  problems.push_back(std::string(variable) + "='" + value + "' is not a whole number from " + std::to_string(least) +
                     " to " + std::to_string(most) + "; " + std::to_string(standard) + " is used");
  return standard;
}

}  // namespace

Settings read_settings() {
  Settings read;
  const auto flag = [&read](const char* variable, bool standard) {
    return number_of(variable, 0, 1, standard ? 1 : 0, read.problems) != 0;
  };
  read.barriers_before =
      number_of("CHIPLOG_BARRIER_AFTER", 1, most_barriers_before, read.barriers_before, read.problems);
  // Simulated ranks share one process: its memory would take no time.
  read.shares_memory = flag("CHIPLOG_BARRIER_SHARED", true) && !simulated;
  read.every_rank = flag("CHIPLOG_EVERY_RANK", false) || simulated;
  read.node = value_of("CHIPLOG_BARRIER_NODE");
  read.verbose = flag("CHIPLOG_VERBOSE", false);
  return read;
}

const Settings& settings() {
  static const Settings once = read_settings();
  return once;
}

void say(const std::string& sentence) { std::fprintf(stderr, "chiplog: %s\n", sentence.c_str()); }

}  // namespace chiplog::collectives
