#include "command_line.hpp"

#include <array>
#include <limits>
#include <string>
#include <utility>

#include "chiplog/error.hpp"
#include "core/long_options.hpp"
#include "core/quantity.hpp"

namespace chiplog {
namespace {

constexpr std::int64_t max_ranks = 4096;
constexpr double max_time_limit_s = 86400.0;

enum OptionCode : int {
  target_option = 256,
  ranks_option,
  requests_option,
  records_option,
  seed_option,
  pin_option,
  launch_option,
  time_limit_option,
  bootstrap_option,
  chiplog_option,
  version_option,
  help_option,
  list_option,
  clock_option,
};

constexpr std::array long_options{
    option{"target", required_argument, nullptr, target_option},
    option{"transport", required_argument, nullptr, target_option},
    option{"ranks", required_argument, nullptr, ranks_option},
    option{"requests", required_argument, nullptr, requests_option},
    option{"records", required_argument, nullptr, records_option},
    option{"seed", required_argument, nullptr, seed_option},
    option{"pin", required_argument, nullptr, pin_option},
    option{"launch", required_argument, nullptr, launch_option},
    option{"time-limit", required_argument, nullptr, time_limit_option},
    option{"bootstrap", required_argument, nullptr, bootstrap_option},
    option{"chiplog", required_argument, nullptr, chiplog_option},
    option{"version", no_argument, nullptr, version_option},
    option{"help", no_argument, nullptr, help_option},
    option{"list", no_argument, nullptr, list_option},
    option{"clock", no_argument, nullptr, clock_option},
    option{nullptr, 0, nullptr, 0},
};

BootstrapKind parse_bootstrap(const std::string& text) {
  constexpr std::array kinds{std::pair{"auto", BootstrapKind::automatic}, std::pair{"fork", BootstrapKind::fork},
                             std::pair{"rendezvous", BootstrapKind::rendezvous}, std::pair{"mpi", BootstrapKind::mpi}};
  for (const auto& [name, kind] : kinds) {
    if (text == name) return kind;
  }
  throw UsageError("--bootstrap accepts auto, fork, rendezvous or mpi, not '" + text + "'");
}

std::chrono::nanoseconds parse_time_limit(const std::string& text) {
  const bool has_unit = text.find_first_of("nums") != std::string::npos;
  const double limit_s = parse_duration_ns(has_unit ? text : text + "s", "--time-limit") / 1e9;
  if (limit_s < 0.1 || limit_s > max_time_limit_s) {
    throw UsageError("--time-limit accepts 100ms to 86400s, not '" + text + "'");
  }
  return std::chrono::nanoseconds(static_cast<std::int64_t>(limit_s * 1e9));
}

void apply(CommandLine& line, int code, const std::string& value) {
  constexpr std::int64_t largest = std::numeric_limits<std::int64_t>::max();
  RunSettings& settings = line.settings;
  switch (code) {
    case target_option:
      settings.target = value;
      break;
    case ranks_option:
      settings.ranks = static_cast<int>(parse_integer(value, "--ranks", 2, max_ranks));
      break;
    case requests_option:
      line.requests_path = value;
      break;
    case records_option:
      line.records_path = value;
      break;
    case seed_option:
      settings.seed = static_cast<std::uint64_t>(parse_integer(value, "--seed", 0, largest));
      break;
    case pin_option:
      settings.pin = value;
      break;
    case launch_option:
      settings.launch = static_cast<int>(parse_integer(value, "--launch", 0, 1'000'000));
      break;
    case time_limit_option:
      settings.time_limit = parse_time_limit(value);
      break;
    case bootstrap_option:
      line.bootstrap = parse_bootstrap(value);
      break;
    case chiplog_option:
      settings.version = value;
      break;
    case version_option:
      line.action = Action::show_version;
      break;
    case help_option:
      line.action = Action::show_help;
      break;
    case list_option:
      line.action = Action::list_transports;
      break;
    case clock_option:
      line.action = Action::show_clock;
      break;
    default:
      break;
  }
}

}  // namespace

std::string_view help_text() {
  return "usage: chiplog-probe --target TARGET [options]\n"
         "Measures communication between ranks: requests in, records out, one JSON object a line.\n"
         "\n"
         "  --target TARGET      transport[:key=value,...], such as tcp:bind=127.0.0.1 (also --transport)\n"
         "  --ranks N            how many ranks are forked or simulated [2]\n"
         "  --requests FILE      where requests come from [-, standard input]\n"
         "  --records FILE       where records go; must not exist [-, standard output]\n"
         "  --seed N             seed of whatever is drawn at random [0]\n"
         "  --pin HOW            one CPU a rank: filled (socket after socket), round-robin (over sockets and NUMA\n"
         "                       nodes), none, or a list of CPUs [filled]\n"
         "  --launch N           number of this launch, stored with each record [0]\n"
         "  --time-limit T       how long a rank waits for another [30s]\n"
         "  --bootstrap KIND     how ranks meet: auto, fork, rendezvous or mpi [auto]\n"
         "  --chiplog VERSION    version of chiplog, stored with the records [that of this program]\n"
         "  --list               the transports of this probe, as JSON\n"
         "  --clock              the clock of this machine, as JSON\n"
         "  --version, --help\n";
}

CommandLine parse_command_line(int argc, char** argv) {
  CommandLine line;
  parse_long_options(argc, argv, long_options.data(), "; see --help",
                     [&](int code, const std::string& value) { apply(line, code, value); });
  if (line.action == Action::run && line.settings.target.empty()) {
    throw UsageError("--target is missing; it accepts transport[:key=value,...], such as tcp:bind=127.0.0.1");
  }
  return line;
}

}  // namespace chiplog
