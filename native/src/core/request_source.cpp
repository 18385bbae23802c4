#include "core/request_source.hpp"

#include <poll.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "chiplog/error.hpp"
#include "core/request.hpp"

namespace chiplog {

// It also finds a last line without a line end.
bool RequestSource::take_line(std::string& line) {
  while (true) {
    const std::size_t newline = buffer_.find('\n', scanned_);
    if (newline == std::string::npos) {
      scanned_ = buffer_.size();
      if (buffer_.size() > max_request_bytes) {
        buffer_.clear();
        scanned_ = 0;
        if (!skipping_) {
          skipping_ = true;
          throw UsageError("a request line may hold at most " + std::to_string(max_request_bytes) + " bytes");
        }
      }
      if (!at_end_ || buffer_.empty() || skipping_) return false;
      line = std::move(buffer_);
      buffer_.clear();
      scanned_ = 0;
      return true;
    }
    line.assign(buffer_, 0, newline);
    buffer_.erase(0, newline + 1);
    scanned_ = 0;
    if (skipping_) {
      skipping_ = false;
      continue;
    }
    if (line.size() > max_request_bytes) {
      throw UsageError("a request line may hold at most " + std::to_string(max_request_bytes) + " bytes");
    }
    if (line.find_first_not_of(" \t\r") != std::string::npos) return true;
  }
}

// True if the buffer may hold another line.
bool RequestSource::fill(std::chrono::milliseconds patience) {
  pollfd wait{descriptor_, POLLIN, 0};
  const int ready = poll(&wait, 1, static_cast<int>(patience.count()));
  if (ready <= 0) return false;
  std::array<char, 65536> chunk{};
  const ssize_t count = read(descriptor_, chunk.data(), chunk.size());
  if (count < 0) {
    if (errno == EINTR || errno == EAGAIN) return false;
    throw Error(ExitCode::run_failed, std::string("can't read requests: ") + std::strerror(errno));
  }
  if (count == 0) at_end_ = true;
  buffer_.append(chunk.data(), static_cast<std::size_t>(count));
  return true;
}

RequestSource::Outcome RequestSource::next(std::string& line, std::chrono::milliseconds patience) {
  while (true) {
    if (take_line(line)) return Outcome::line;
    if (at_end_) return Outcome::end;
    if (!fill(patience)) return Outcome::idle;
  }
}

}  // namespace chiplog
