// Whatever is read as GOAL is either a schedule, which writes and reads again as itself, or a GoalError.

#include "simulation/goal.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string>
#include <string_view>

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

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    const std::string once =
        written(chiplog::simulation::read_goal(source_of({reinterpret_cast<const char*>(data), size})));
    if (written(chiplog::simulation::read_goal(source_of(once))) != once) std::abort();
  } catch (const chiplog::simulation::GoalError&) {
  }
  return 0;
}
