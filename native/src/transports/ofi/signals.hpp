// libfabric and the libraries below it take signals over: shm's provider to remove its files, PSM's to print a trace.
#pragma once

#include <array>
#include <csignal>
#include <cstddef>

namespace chiplog::ofi {

// What was done about a signal before is done about it again afterwards.
class KeepSignalHandlers {
 public:
  KeepSignalHandlers() {
    for (std::size_t i = 0; i < signals.size(); ++i) sigaction(signals[i], nullptr, &handlers_[i]);
  }
  ~KeepSignalHandlers() {
    for (std::size_t i = 0; i < signals.size(); ++i) sigaction(signals[i], &handlers_[i], nullptr);
  }
  KeepSignalHandlers(const KeepSignalHandlers&) = delete;
  KeepSignalHandlers& operator=(const KeepSignalHandlers&) = delete;

 private:
  static constexpr std::array<int, 6> signals{SIGINT, SIGTERM, SIGBUS, SIGSEGV, SIGILL, SIGABRT};
  std::array<struct sigaction, signals.size()> handlers_{};
};

}  // namespace chiplog::ofi
