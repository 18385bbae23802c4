// What the probe is asked on its command line.
#pragma once

#include <string>

#include "core/run_settings.hpp"

namespace chiplog {

enum class Action { run, show_help, show_version, list_transports, show_clock };
enum class BootstrapKind { automatic, fork, rendezvous, mpi };

struct CommandLine {
  Action action = Action::run;
  RunSettings settings;
  std::string requests_path = "-";
  std::string records_path = "-";
  BootstrapKind bootstrap = BootstrapKind::automatic;
};

// UsageError naming the option and what it accepts.
[[nodiscard]] CommandLine parse_command_line(int argc, char** argv);
[[nodiscard]] std::string_view help_text();

}  // namespace chiplog
