// Files that a user or another process names, read as a whole.
#pragma once

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <stdexcept>
#include <string>

namespace chiplog {

// The content of a file of at most `most_bytes`. Never waits: of a FIFO or a device, which may have no end, nothing is
// read. std::runtime_error says why there is no content.
[[nodiscard]] inline std::string read_small_file(const std::string& path, std::size_t most_bytes) {
  struct Open {
    explicit Open(const char* name) : number(::open(name, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)) {}
    ~Open() {
      if (number >= 0) ::close(number);
    }
    Open(const Open&) = delete;
    Open& operator=(const Open&) = delete;
    const int number;
  } const file(path.c_str());
  struct stat about{};
  if (file.number < 0 || ::fstat(file.number, &about) != 0) throw std::runtime_error("can't be read");
  if (!S_ISREG(about.st_mode)) throw std::runtime_error("is no regular file");
  std::string content;
  for (;;) {
    char piece[4096];
    const ssize_t got = ::read(file.number, piece, sizeof piece);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw std::runtime_error("can't be read");
    if (got == 0) return content;
    content.append(piece, static_cast<std::size_t>(got));
    if (content.size() > most_bytes) {
      throw std::runtime_error("has more than " + std::to_string(most_bytes) + " B");
    }
  }
}

// Whether a file may be written in the place of what has this name: nothing, or another file.
[[nodiscard]] inline bool is_replaceable(const std::string& path) {
  struct stat about{};
  return ::stat(path.c_str(), &about) != 0 || S_ISREG(about.st_mode);
}

}  // namespace chiplog
