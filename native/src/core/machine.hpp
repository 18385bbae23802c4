// The header's description of the machine, and warnings about what makes its numbers noisy.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/endpoint.hpp"

namespace chiplog {

struct MachineFacts {
  std::string cpu_model;
  std::string kernel;
  int cores = 0;
  std::optional<std::string> governor;
  std::optional<std::string> hypervisor;
  double load = 0.0;                         // runnable threads of other programs
  std::optional<double> stolen_cpu_percent;  // of the time since boot, by the hypervisor
};

// A fact, its number, and what to do about it.
struct Warning {
  std::string fact;
  double number = 0.0;
  std::string unit;
  std::string remedy;
};

[[nodiscard]] MachineFacts read_machine_facts();
[[nodiscard]] std::string host_name();
// Distinguishes containers or machines of the same name.
[[nodiscard]] std::string boot_id();
// The CPUs that this process may run on.
[[nodiscard]] std::vector<int> allowed_cpus();

// `local_ranks` is the number of ranks on this host.
[[nodiscard]] std::vector<Warning> machine_warnings(const MachineFacts& machine, const ClockFacts& clock,
                                                    int local_ranks);

}  // namespace chiplog
