#include "core/pinning.hpp"

#include <sched.h>

#include <algorithm>
#include <string>

#include "chiplog/error.hpp"
#include "core/machine.hpp"
#include "core/quantity.hpp"

namespace chiplog {

PinRequest parse_pin(std::string_view request, int ranks) {
  if (request == "auto") return {};
  if (request == "none") return {PinRequest::Kind::none, {}};
  PinRequest pin{PinRequest::Kind::list, {}};
  while (true) {
    const std::size_t comma = request.find(',');
    const auto cpu =
        parse_integer(request.substr(0, comma), "--pin: a CPU in the list, besides auto and none,", 0, CPU_SETSIZE - 1);
    pin.cpus.push_back(static_cast<int>(cpu));
    if (comma == std::string_view::npos) break;
    request.remove_prefix(comma + 1);
  }
  if (pin.cpus.size() != static_cast<std::size_t>(ranks)) {
    throw UsageError("--pin names " + std::to_string(pin.cpus.size()) + " CPUs for " + std::to_string(ranks) +
                     " ranks; it accepts auto, none or one CPU a rank");
  }
  return pin;
}

void pin_rank(const PinRequest& request, Rank rank) {
  if (request.kind == PinRequest::Kind::none) return;
  const std::vector<int> allowed = allowed_cpus();
  if (allowed.empty()) return;
  const auto index = static_cast<std::size_t>(rank);
  const bool listed = request.kind == PinRequest::Kind::list;
  const int cpu = listed ? request.cpus.at(index) : allowed[index % allowed.size()];
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(static_cast<unsigned>(cpu), &set);
  const bool is_allowed = std::find(allowed.begin(), allowed.end(), cpu) != allowed.end();
  const bool bound = is_allowed && sched_setaffinity(0, sizeof set, &set) == 0;
  if (!bound && listed)
    throw UsageError("--pin: rank " + std::to_string(rank) + " may not run on CPU " + std::to_string(cpu));
}

}  // namespace chiplog
