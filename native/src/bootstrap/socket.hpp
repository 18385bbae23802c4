// Sockets with time limits, for everything but the measurement. All waiting is in poll(), which takes no CPU time.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "core/error_text.hpp"

namespace chiplog {

// Owns one file descriptor.
class FileDescriptor {
 public:
  FileDescriptor() = default;
  explicit FileDescriptor(int fd) : fd_(fd) {}
  ~FileDescriptor() { reset(); }
  FileDescriptor(FileDescriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  FileDescriptor& operator=(FileDescriptor&& other) noexcept {
    if (this != &other) {
      reset();
      fd_ = std::exchange(other.fd_, -1);
    }
    return *this;
  }

  [[nodiscard]] int get() const { return fd_; }
  [[nodiscard]] bool open() const { return fd_ >= 0; }
  void reset();

 private:
  int fd_ = -1;
};

// The point in time until which to wait; without one, for ever.
class Deadline {
 public:
  static Deadline never() { return Deadline{}; }
  static Deadline in(std::chrono::nanoseconds limit);

  [[nodiscard]] bool passed() const;
  // The argument of poll(): milliseconds rounded up, 0 once passed, -1 for ever.
  [[nodiscard]] int poll_timeout_ms() const;
  [[nodiscard]] static Deadline earlier(const Deadline& a, const Deadline& b);

 private:
  std::optional<std::chrono::steady_clock::time_point> at_;
};

enum class IoResult { done, closed, timed_out };

// Transfers all of `bytes`. The result is `closed` if the peer closed its end or died; throws Error for anything else.
IoResult send_all(int fd, std::span<const std::byte> bytes, const Deadline& deadline);
IoResult receive_all(int fd, std::span<std::byte> bytes, const Deadline& deadline);

[[nodiscard]] inline std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

}  // namespace chiplog
