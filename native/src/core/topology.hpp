// The topology of a host's CPUs, as Linux describes it below /sys/devices/system.
#pragma once

#include <string>
#include <vector>

namespace chiplog {

// Numbers are the system's own; 0 where it tells none. `cache` is the lowest CPU that shares the last-level cache.
struct Cpu {
  int number = 0;
  int socket = 0;
  int numa_node = 0;
  int cache = 0;
  int thread = 0;  // of its core, counted from 0
};

// Those of the CPUs `numbers`, in that order. `system` is the directory to read.
[[nodiscard]] std::vector<Cpu> read_topology(const std::vector<int>& numbers,
                                             const std::string& system = "/sys/devices/system");

// Parses "0-3,8" as 0, 1, 2, 3, 8; stops at the first character that does not fit.
[[nodiscard]] std::vector<int> parse_cpu_list(const std::string& text);

}  // namespace chiplog
