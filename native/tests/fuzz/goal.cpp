// Whatever is read as GOAL is either a schedule, which writes and reads again as itself, or a GoalError. A schedule can
// be simulated: either it is complete, or operations are named that wait, or a time is beyond what can be told.

#include "simulation/goal.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string>
#include <string_view>

#include "simulation/simulator.hpp"

namespace {

chiplog::simulation::ByteSource source_of(std::string_view text) {
  return [text](std::span<char> into) mutable {
    const std::size_t bytes = std::min<std::size_t>({into.size(), text.size(), 61});
    std::copy_n(text.begin(), bytes, into.begin());
    text.remove_prefix(bytes);
    return bytes;
  };
}

std::string written(const chiplog::simulation::OwnedSchedule& schedule) {
  std::string text;
  chiplog::simulation::write_goal(schedule.view(),
                                  [&](std::span<const char> bytes) { text.append(bytes.data(), bytes.size()); });
  return text;
}

constexpr std::uint32_t most_ranks = 16;  // so that 255 CPUs and NICs on each of them fit into memory

void simulate_in_time(const chiplog::simulation::Schedule& schedule) {
  chiplog::simulation::Parameters parameters;
  parameters.protocols = {{0, 2500, 1500, 1000, 6000, 1000}};
  parameters.S_bytes = 100;
  try {
    const auto outcome = chiplog::simulation::simulate(schedule, parameters);
    if (outcome.finish.size() != schedule.ranks) std::abort();
  } catch (const chiplog::simulation::TimeOverflow&) {
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    const auto read = chiplog::simulation::read_goal(source_of({reinterpret_cast<const char*>(data), size}));
    const std::string once = written(read);
    if (written(chiplog::simulation::read_goal(source_of(once))) != once) std::abort();
    if (read.ranks <= most_ranks) simulate_in_time(read.view());
  } catch (const chiplog::simulation::GoalError&) {
  }
  return 0;
}
