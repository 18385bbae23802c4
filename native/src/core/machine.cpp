#include "core/machine.hpp"

#include <sched.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>

#include "core/other_programs.hpp"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace chiplog {
namespace {

constexpr double coarse_step_ns = 20.0;
constexpr double busy_load = 0.5;
constexpr double noticeable_steal_percent = 0.1;

std::string first_line(const char* path) {
  std::string line;
  std::ifstream file(path);
  std::getline(file, line);
  return line;
}

// The value behind "key : value" in /proc/cpuinfo.
std::string cpu_info(std::string_view key) {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    const std::size_t colon = line.find(':');
    if (line.rfind(key, 0) == 0 && colon != std::string::npos) {
      return line.substr(std::min(colon + 2, line.size()));
    }
  }
  return {};
}

std::optional<std::string> hypervisor() {
#if defined(__x86_64__)
  unsigned eax = 0;
  unsigned ebx = 0;
  unsigned ecx = 0;
  unsigned edx = 0;
  constexpr unsigned hypervisor_bit = 1U << 31U;
  if (__get_cpuid(1, &eax, &ebx, &ecx, &edx) == 0 || (ecx & hypervisor_bit) == 0) return std::nullopt;
  __cpuid(0x40000000U, eax, ebx, ecx, edx);
  std::array<char, 13> vendor{};
  std::memcpy(vendor.data(), &ebx, 4);
  std::memcpy(vendor.data() + 4, &ecx, 4);
  std::memcpy(vendor.data() + 8, &edx, 4);
  const std::string name = vendor.data();
  return name == "KVMKVMKVM" ? "KVM" : name.empty() ? "unknown" : name;
#else
  const std::string type = first_line("/sys/hypervisor/type");
  return type.empty() ? std::nullopt : std::optional(type);
#endif
}

std::optional<double> stolen_cpu_percent() {
  std::istringstream words(first_line("/proc/stat"));
  std::string label;
  words >> label;
  std::array<double, 8> times{};  // user nice system idle iowait irq softirq steal
  double total = 0.0;
  for (double& time : times) {
    if (!(words >> time)) return std::nullopt;
    total += time;
  }
  return total > 0.0 ? std::optional(100.0 * times[7] / total) : std::nullopt;
}

}  // namespace

std::string host_name() {
  std::array<char, 256> name{};
  gethostname(name.data(), name.size() - 1);
  return name.data();
}

std::string boot_id() { return first_line("/proc/sys/kernel/random/boot_id"); }

std::vector<int> allowed_cpus() {
  cpu_set_t set;
  CPU_ZERO(&set);
  std::vector<int> cpus;
  if (sched_getaffinity(0, sizeof set, &set) != 0) return cpus;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(static_cast<unsigned>(cpu), &set)) cpus.push_back(cpu);
  }
  return cpus;
}

MachineFacts read_machine_facts() {
  MachineFacts facts;
  utsname names{};
  uname(&names);
  facts.cpu_model = cpu_info("model name");
  if (facts.cpu_model.empty()) facts.cpu_model = names.machine;
  facts.kernel = std::string(names.sysname) + " " + names.release;
  facts.cores = static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN));
  const std::string governor = first_line("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor");
  if (!governor.empty()) facts.governor = governor;
  facts.hypervisor = hypervisor();
  facts.load = runnable_threads_of_others();
  if (facts.hypervisor) facts.stolen_cpu_percent = stolen_cpu_percent();
  return facts;
}

std::vector<Warning> machine_warnings(const MachineFacts& machine, const ClockFacts& clock, int local_ranks) {
  std::vector<Warning> warnings;
  if (clock.name == "monotonic-raw") {
    warnings.push_back({"the CPU has no counter to trust, so the kernel's clock is read", clock.overhead_ns, "ns",
                        "use a host whose clock source is its own counter (tsc, arch_sys_counter)"});
  }
  if (clock.resolution_ns > coarse_step_ns) {
    warnings.push_back({"the clock advances in coarse steps", clock.resolution_ns, "ns",
                        "nothing to do: short operations are timed in batches, whose size is recorded"});
  }
  if (machine.cores < local_ranks) {
    warnings.push_back({"there are fewer CPUs than ranks on a host, so ranks take turns", double(machine.cores), "CPUs",
                        "start fewer ranks or use a host with more CPUs"});
  }
  if (machine.hypervisor) {
    const double stolen = machine.stolen_cpu_percent.value_or(0.0);
    const bool noticeable = stolen >= noticeable_steal_percent;
    warnings.push_back({"the host runs under " + *machine.hypervisor +
                            (noticeable ? ", which takes CPU time away" : ", which may take CPU time away"),
                        stolen, "% of CPU time", "use a host without virtual machines, or dedicated CPUs"});
  }
  if (machine.governor && *machine.governor != "performance") {
    const double khz =
        std::strtod(first_line("/sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq").c_str(), nullptr);
    warnings.push_back({"the CPU frequency is set by the governor " + *machine.governor, khz / 1e3, "MHz",
                        "set the governor performance: cpupower frequency-set -g performance"});
  } else if (!machine.governor && !machine.hypervisor) {
    warnings.push_back({"the CPU frequency governor is unknown", std::strtod(cpu_info("cpu MHz").c_str(), nullptr),
                        "MHz", "look in the firmware's settings whether the frequency is fixed"});
  }
  if (machine.load > busy_load) {
    warnings.push_back({"other programs are running", machine.load, "runnable processes",
                        "wait until the host is idle, or measure on reserved CPUs"});
  }
  return warnings;
}

}  // namespace chiplog
