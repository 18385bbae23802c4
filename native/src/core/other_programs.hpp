// How long programs that are not of this run kept the CPUs on which this rank may run.
#pragma once

#include <sched.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace chiplog {

// A process as Linux describes it in /proc/PID/stat.
struct ProcessStat {
  std::string_view name;
  std::uint64_t cpu_ticks = 0;  // in user and kernel mode, all threads
  std::uint64_t started = 0;    // with the number it tells a process from a later one of that number
  char state = '?';             // R: it runs, or waits for a CPU only
  int parent = 0;
  int session = 0;
};
// Nothing if the text is not of that form.
[[nodiscard]] std::optional<ProcessStat> parse_process_stat(std::string_view text);

// Up to the first zero byte. Empty where the file cannot be read, as of a process that ends between the opening and the
// reading of its state.
[[nodiscard]] std::string text_of_file(const std::filesystem::path& path);

// How many threads of other programs run or wait for a CPU on this host: a mean over a few looks within some
// milliseconds. Ranks of this run are no other programs, nor is what started them: they have the session or the parent
// of this process, or are its ancestors. What the system hides, as from a container, is not counted.
[[nodiscard]] double runnable_threads_of_others();

// Processes of another host name, as in a container, are not of this node; nor is chiplog another program.
class OtherPrograms {
 public:
  static OtherPrograms& of_this_node();

  // Their share of these CPUs between the last two looks: 1 if they had all of them, 0 before the second look. A
  // program that may run on other CPUs, too, counts as spread over all of them evenly. A call
  // looks again if the last time is long enough ago: /proc counts in hundredths of a second, and a look takes the
  // longer the more processes there are.
  double share();

 private:
  struct Seen {
    std::uint64_t started = 0;
    std::uint64_t cpu_ticks = 0;
  };

  OtherPrograms();
  // The ticks of others since the look before; of none before the first.
  [[nodiscard]] double ticks_since_last_look();
  [[nodiscard]] bool is_here(const std::string& process) const;
  // Of the CPUs on which a process may run, the share that this rank may use, too.
  [[nodiscard]] double share_of_cpus(int process) const;

  cpu_set_t cpus_{};
  std::string host_;  // the namespace of the host name; empty where the system does not tell
  std::map<int, Seen> seen_;
  std::optional<std::chrono::steady_clock::time_point> looked_;
  double share_ = 0.0;
};

}  // namespace chiplog
