#include "transports/liveness.hpp"

#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <string>
#include <string_view>

#include "core/machine.hpp"

namespace chiplog {
namespace {

// Equal on processes that see each other by their numbers.
std::string own_namespace() {
  std::array<char, 64> name{};
  const ssize_t length = readlink("/proc/self/ns/pid", name.data(), name.size());
  return boot_id() + '/' + std::string(name.data(), length > 0 ? static_cast<std::size_t>(length) : 0);
}

// A descriptor that becomes readable when the process ends; closed where the system has none.
FileDescriptor open_process([[maybe_unused]] std::string_view number) {
#ifdef SYS_pidfd_open
  pid_t process = 0;
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), process);
  if (error == std::errc{}) return FileDescriptor(static_cast<int>(syscall(SYS_pidfd_open, process, 0)));
#endif
  return {};
}

}  // namespace

Liveness::Liveness(Bootstrap& bootstrap) {
  const std::string here = own_namespace();
  for (const std::string& there : bootstrap.all_gather(std::to_string(getpid()) + ' ' + here)) {
    const std::size_t blank = there.find(' ');
    const bool visible = blank != std::string::npos && there.compare(blank + 1, std::string::npos, here) == 0;
    processes_.push_back(visible ? open_process(std::string_view(there).substr(0, blank)) : FileDescriptor());
  }
  // Nobody ends, so that no number is used again, before all have opened all.
  bootstrap.barrier();
}

bool Liveness::lives(Rank peer) const {
  const FileDescriptor& process = processes_[static_cast<std::size_t>(peer)];
  pollfd ended{.fd = process.get(), .events = POLLIN, .revents = 0};
  return !process.open() || poll(&ended, 1, 0) <= 0;
}

}  // namespace chiplog
