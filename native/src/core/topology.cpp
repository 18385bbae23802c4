#include "core/topology.hpp"

#include <sched.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace chiplog {
namespace {

namespace fs = std::filesystem;

std::string first_line(const fs::path& path) {
  std::string line;
  std::ifstream file(path);
  std::getline(file, line);
  return line;
}

// Unreadable values, and the -1 of systems that don't know, count as 0.
int number_in(const fs::path& path) {
  int number = 0;
  std::istringstream text(first_line(path));
  return text >> number && number > 0 ? number : 0;
}

// A CPU's directory has a link to its NUMA node's.
int numa_node_of(const fs::path& cpu) {
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(cpu, error)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with("node") && name.size() > 4) return static_cast<int>(std::strtol(&name[4], nullptr, 10));
  }
  return 0;
}

int last_level_cache_of(const fs::path& cpu) {
  int deepest = 0;
  int first = 0;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(cpu / "cache", error)) {
    const int level = number_in(entry.path() / "level");
    if (level <= deepest) continue;
    const std::vector<int> sharing = parse_cpu_list(first_line(entry.path() / "shared_cpu_list"));
    if (sharing.empty()) continue;
    deepest = level;
    first = sharing.front();
  }
  return first;
}

int thread_of(const fs::path& cpu, int number) {
  const std::vector<int> siblings = parse_cpu_list(first_line(cpu / "topology" / "thread_siblings_list"));
  const auto at = std::find(siblings.begin(), siblings.end(), number);
  return at == siblings.end() ? 0 : static_cast<int>(at - siblings.begin());
}

}  // namespace

std::vector<int> parse_cpu_list(const std::string& text) {
  std::vector<int> numbers;
  std::istringstream list(text);
  int first = 0;
  while (list >> first && first >= 0 && first < CPU_SETSIZE) {
    int last = first;
    if (list.peek() == '-' && !(list.ignore() >> last)) break;
    for (int number = first; number <= std::min(last, CPU_SETSIZE - 1); ++number) numbers.push_back(number);
    if (list.get() != ',') break;
  }
  return numbers;
}

std::vector<Cpu> read_topology(const std::vector<int>& numbers, const std::string& system) {
  std::vector<Cpu> cpus;
  for (const int number : numbers) {
    const fs::path cpu = fs::path(system) / "cpu" / ("cpu" + std::to_string(number));
    cpus.push_back({number, number_in(cpu / "topology" / "physical_package_id"), numa_node_of(cpu),
                    last_level_cache_of(cpu), thread_of(cpu, number)});
  }
  return cpus;
}

}  // namespace chiplog
