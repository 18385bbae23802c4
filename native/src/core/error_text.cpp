#include "core/error_text.hpp"

#include <sys/resource.h>

#include <cerrno>
#include <sstream>
#include <system_error>

namespace chiplog {

std::string system_error_text(int error) {
  std::string text = std::generic_category().message(error);
  rlimit limit{};
  if (error != EMFILE || getrlimit(RLIMIT_NOFILE, &limit) != 0) return text;
  return text + " (a process may have " + std::to_string(limit.rlim_cur) + ": raise that with ulimit -n)";
}

bool is_shortage(int error) { return error == EMFILE || error == ENFILE || error == ENOMEM || error == ENOBUFS; }

std::string seconds_text(std::chrono::nanoseconds duration) {
  std::ostringstream text;
  text << std::chrono::duration<double>(duration).count() << " s";
  return text.str();
}

}  // namespace chiplog
