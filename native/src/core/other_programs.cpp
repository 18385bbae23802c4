#include "core/other_programs.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <fstream>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace chiplog {
namespace {

constexpr std::chrono::milliseconds between_looks{200};
constexpr std::string_view own_name = "chiplog";
constexpr int looks_for_runnable = 5;
constexpr std::chrono::milliseconds between_looks_for_runnable{4};

template <class Number>
bool read_number(std::string_view text, Number& number) {
  return std::from_chars(text.data(), text.data() + text.size(), number).ec == std::errc{};
}

// The namespace of a process' host name; empty where this user may not know.
std::string host_of(const std::string& process) {
  std::array<char, 64> name{};
  const ssize_t length = readlink(("/proc/" + process + "/ns/uts").c_str(), name.data(), name.size());
  return length > 0 ? std::string(name.data(), static_cast<std::size_t>(length)) : std::string{};
}

// Calls `visit` with the number and the path of each entry of a folder of /proc whose name is a number.
template <class Visit>
void each_number(const std::filesystem::path& folder, Visit visit) {
  std::error_code failed;
  for (std::filesystem::directory_iterator entry(folder, failed), end; !failed && entry != end;
       entry.increment(failed)) {
    int number = 0;
    if (read_number(entry->path().filename().string(), number)) visit(number, entry->path());
  }
}

// This process and those that it descends from.
std::set<int> lineage() {
  std::set<int> numbers{getpid()};
  for (int next = getppid(); next > 1 && numbers.insert(next).second;) {
    const std::string text = text_of_file("/proc/" + std::to_string(next) + "/stat");
    const std::optional<ProcessStat> stat = parse_process_stat(text);
    next = stat ? stat->parent : 0;
  }
  return numbers;
}

int runnable_threads_now(const std::set<int>& own) {
  int threads = 0;
  each_number("/proc", [&](int process, const std::filesystem::path& path) {
    const std::string text = text_of_file(path / "stat");
    const std::optional<ProcessStat> stat = parse_process_stat(text);
    const bool is_kernels = process == 2 || (stat && stat->parent == 2);
    if (!stat || is_kernels || own.contains(process)) return;
    if (stat->session == getsid(0) || (getppid() > 1 && stat->parent == getppid())) return;
    each_number(path / "task", [&](int, const std::filesystem::path& task) {
      const std::string of_thread = text_of_file(task / "stat");
      const std::optional<ProcessStat> thread = parse_process_stat(of_thread);
      threads += thread && thread->state == 'R' ? 1 : 0;
    });
  });
  return threads;
}

}  // namespace

double runnable_threads_of_others() {
  const std::set<int> own = lineage();
  double threads = runnable_threads_now(own);
  for (int look = 1; look < looks_for_runnable; ++look) {
    std::this_thread::sleep_for(between_looks_for_runnable);
    threads += runnable_threads_now(own);
  }
  return threads / looks_for_runnable;
}

std::string text_of_file(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::string text;
  std::getline(file, text, '\0');
  return text;
}

std::optional<ProcessStat> parse_process_stat(std::string_view text) {
  // The name stands in parentheses and may itself hold any of them, and spaces.
  const std::size_t open = text.find('(');
  const std::size_t close = text.rfind(')');
  if (open == std::string_view::npos || close == std::string_view::npos || close < open) return std::nullopt;
  std::vector<std::string_view> fields;  // from the third one on
  for (std::size_t at = close + 1; at < text.size();) {
    const std::size_t end = std::min(text.find_first_of(" \n", at), text.size());
    if (end > at) fields.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  constexpr std::size_t first = 3, parent = 4 - first, session = 6 - first, user = 14 - first, kernel = 15 - first,
                        start = 22 - first;
  ProcessStat stat{.name = text.substr(open + 1, close - open - 1)};
  std::uint64_t in_kernel = 0;
  const bool is_whole = fields.size() > start && read_number(fields[user], stat.cpu_ticks) &&
                        read_number(fields[kernel], in_kernel) && read_number(fields[start], stat.started) &&
                        read_number(fields[parent], stat.parent) && read_number(fields[session], stat.session);
  if (!is_whole) return std::nullopt;
  stat.state = fields[0][0];
  stat.cpu_ticks += in_kernel;
  return stat;
}

OtherPrograms& OtherPrograms::of_this_node() {
  static OtherPrograms counted;
  return counted;
}

OtherPrograms::OtherPrograms() : host_(host_of("self")) {
  if (sched_getaffinity(0, sizeof cpus_, &cpus_) != 0) CPU_ZERO(&cpus_);
}

double OtherPrograms::share() {
  const auto now = std::chrono::steady_clock::now();
  if (looked_ && now - *looked_ < between_looks) return share_;
  const double ticks = ticks_since_last_look();
  if (looked_) {
    const double cpu_seconds = ticks / static_cast<double>(sysconf(_SC_CLK_TCK));
    const double cpus = std::max(CPU_COUNT(&cpus_), 1);
    share_ = cpu_seconds / cpus / std::chrono::duration<double>(now - *looked_).count();
  }
  looked_ = now;
  return share_;
}

// Where the system tells no other's host, as of another user's process, the process is of this one.
bool OtherPrograms::is_here(const std::string& process) const {
  const std::string host = host_of(process);
  return host.empty() || host_.empty() || host == host_;
}

double OtherPrograms::share_of_cpus(int process) const {
  cpu_set_t theirs;
  if (sched_getaffinity(process, sizeof theirs, &theirs) != 0 || CPU_COUNT(&theirs) == 0) return 0.0;
  cpu_set_t common;
  CPU_AND(&common, &theirs, &cpus_);
  return static_cast<double>(CPU_COUNT(&common)) / CPU_COUNT(&theirs);
}

double OtherPrograms::ticks_since_last_look() {
  std::map<int, Seen> now;
  double of_others = 0.0;
  each_number("/proc", [&](int number, const std::filesystem::path& path) {
    const std::string text = text_of_file(path / "stat");
    const std::optional<ProcessStat> stat = parse_process_stat(text);
    if (!stat || stat->name.starts_with(own_name)) return;
    now[number] = {stat->started, stat->cpu_ticks};
    const auto before = seen_.find(number);
    const bool was_seen = before != seen_.end() && before->second.started == stat->started;
    if (!was_seen && !looked_) return;
    const std::uint64_t ticks = stat->cpu_ticks - (was_seen ? before->second.cpu_ticks : 0);
    if (ticks > 0 && is_here(path.filename().string())) of_others += static_cast<double>(ticks) * share_of_cpus(number);
  });
  seen_ = std::move(now);
  return of_others;
}

}  // namespace chiplog
