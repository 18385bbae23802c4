#include "bootstrap/socket.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <limits>

#include "chiplog/error.hpp"

namespace chiplog {
namespace {

bool means_closed(int error) { return error == EPIPE || error == ECONNRESET || error == ENOTCONN; }

// False if the deadline has passed.
bool wait_for(int fd, short events, const Deadline& deadline) {
  pollfd entry{fd, events, 0};
  for (;;) {
    const int ready = poll(&entry, 1, deadline.poll_timeout_ms());
    if (ready > 0) return true;
    if (ready == 0 && deadline.passed()) return false;
    if (ready < 0 && errno != EINTR) throw Error(ExitCode::run_failed, "poll failed: " + system_error_text(errno));
  }
}

// `transfer(offset)` is one non-blocking send() or recv(); 0 bytes mean that the peer has closed its end.
template <class Transfer>
IoResult transfer_all(int fd, std::size_t size, short events, const Deadline& deadline, Transfer transfer) {
  std::size_t done = 0;
  while (done < size) {
    const ssize_t count = transfer(done);
    if (count > 0) {
      done += static_cast<std::size_t>(count);
    } else if (count == 0 || means_closed(errno)) {
      return IoResult::closed;
    } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
      if (!wait_for(fd, events, deadline)) return IoResult::timed_out;
    } else if (errno == ETIMEDOUT || errno == EHOSTUNREACH || errno == ENETUNREACH) {
      return IoResult::timed_out;
    } else if (errno != EINTR) {
      throw Error(ExitCode::run_failed, "a connection between ranks failed: " + system_error_text(errno));
    }
  }
  return IoResult::done;
}

}  // namespace

void FileDescriptor::reset() {
  if (fd_ >= 0) close(fd_);
  fd_ = -1;
}

Deadline Deadline::in(std::chrono::nanoseconds limit) {
  Deadline deadline;
  const auto now = std::chrono::steady_clock::now();
  if (limit < std::chrono::steady_clock::time_point::max() - now) deadline.at_ = now + limit;
  return deadline;
}

bool Deadline::passed() const { return at_ && std::chrono::steady_clock::now() >= *at_; }

int Deadline::poll_timeout_ms() const {
  if (!at_) return -1;
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(*at_ - std::chrono::steady_clock::now()).count();
  return static_cast<int>(std::clamp<decltype(left)>(left, 0, std::numeric_limits<int>::max()));
}

Deadline Deadline::earlier(const Deadline& a, const Deadline& b) {
  if (!a.at_) return b;
  if (!b.at_) return a;
  return *a.at_ < *b.at_ ? a : b;
}

IoResult send_all(int fd, std::span<const std::byte> bytes, const Deadline& deadline) {
  return transfer_all(fd, bytes.size(), POLLOUT, deadline, [&](std::size_t done) {
    return send(fd, bytes.data() + done, bytes.size() - done, MSG_NOSIGNAL | MSG_DONTWAIT);
  });
}

IoResult receive_all(int fd, std::span<std::byte> bytes, const Deadline& deadline) {
  return transfer_all(fd, bytes.size(), POLLIN, deadline, [&](std::size_t done) {
    return recv(fd, bytes.data() + done, bytes.size() - done, MSG_DONTWAIT);
  });
}

}  // namespace chiplog
