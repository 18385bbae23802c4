#include "collectives/mpi/settings.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

namespace chiplog::collectives {
namespace {

// SimGrid runs all ranks as one program.
#ifdef CHIPLOG_SMPI
constexpr bool simulated = true;
#else
constexpr bool simulated = false;
#endif

std::string value_of(const char* variable) {
  const char* value = std::getenv(variable);
  return value == nullptr ? "" : value;
}

Settings read() {
  Settings read;
  if (const std::string after = value_of("CHIPLOG_BARRIER_AFTER"); !after.empty()) {
    read.barriers_before = std::max(std::atoi(after.c_str()), 1);
  }
  // Simulated ranks share one process: its memory would take no time.
  read.shares_memory = !simulated && value_of("CHIPLOG_BARRIER_SHARED") != "0";
  const std::string word = value_of("CHIPLOG_EVERY_RANK");
  read.every_rank = simulated || (!word.empty() && word != "0");
  read.node = value_of("CHIPLOG_BARRIER_NODE");
  return read;
}

}  // namespace

const Settings& settings() {
  static const Settings once = read();
  return once;
}

bool verbose() {
  const std::string asked = value_of("CHIPLOG_VERBOSE");
  return !asked.empty() && asked != "0";
}

void say(const std::string& sentence) { std::fprintf(stderr, "chiplog: %s\n", sentence.c_str()); }

}  // namespace chiplog::collectives
