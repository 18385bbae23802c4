#include "transports/stream/link.hpp"

#include <poll.h>
#include <sys/time.h>

#include <cerrno>
#include <cstring>
#include <limits>
#include <utility>

#include "chiplog/error.hpp"
#include "core/failures.hpp"

namespace chiplog::stream {
namespace {

void limit_blocking(int fd, std::chrono::nanoseconds time_limit) {
  const auto limit = std::chrono::ceil<std::chrono::microseconds>(time_limit).count();
  timeval time{};
  time.tv_sec = static_cast<decltype(time.tv_sec)>(limit / 1'000'000);
  time.tv_usec = static_cast<decltype(time.tv_usec)>(limit % 1'000'000);
  setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &time, sizeof time);
  setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &time, sizeof time);
}

}  // namespace

Link::Link(FileDescriptor fd, Rank peer, Waiting waiting, std::chrono::nanoseconds time_limit)
    : fd_(std::move(fd)),
      peer_(peer),
      waiting_(waiting),
      send_flags_(MSG_NOSIGNAL | (waiting == Waiting::busy ? MSG_DONTWAIT : 0)),
      receive_flags_(waiting == Waiting::busy ? MSG_DONTWAIT : 0),
      stash_(std::make_unique<std::byte[]>(stash_bytes)),
      policy_(WaitPolicy::make(LookCost::system_call, false, time_limit)) {
  limit_blocking(fd_.get(), time_limit);
}

void Link::finish_send(const std::byte* frame, std::size_t frame_bytes, ssize_t sent) {
  Wait wait(policy_);
  std::size_t done = 0;
  for (;;) {
    if (sent < 0) {
      wait_or_throw(wait);
    } else {
      done += static_cast<std::size_t>(sent);
      wait.begin_again();
    }
    if (done == frame_bytes) return;
    sent = ::send(fd_.get(), frame + done, frame_bytes - done, send_flags_);
  }
}

std::size_t Link::finish_recv(std::byte* frame, std::size_t capacity_bytes, ssize_t first_got) {
  std::size_t got = 0;
  if (stashed_ > 0) {
    got = take_stashed(frame, header_bytes + capacity_bytes);
  } else {
    got = first_received(first_got);
  }
  return complete_frame(frame, capacity_bytes, got);
}

std::size_t Link::complete_frame(std::byte* frame, std::size_t capacity_bytes, std::size_t got) {
  if (got < header_bytes) {
    const std::size_t most = std::min(header_bytes + capacity_bytes, stash_bytes);
    got += receive_at_least(frame + got, header_bytes - got, most - got);
  }
  const std::size_t frame_bytes = length_of_frame(frame, capacity_bytes);
  if (got < frame_bytes) {
    receive_at_least(frame + got, frame_bytes - got, frame_bytes - got);
  } else if (got > frame_bytes) {
    stash(frame + frame_bytes, got - frame_bytes);
  }
  return frame_bytes - header_bytes;
}

std::size_t Link::length_of_frame(const std::byte* frame, std::size_t capacity_bytes) {
  const auto payload_bytes = payload_bytes_of(load_header(frame));
  if (!payload_bytes) {
    fd_.reset();
    throw Corrupt("what arrived from " + name_of(peer_) + " is not a message");
  }
  if (*payload_bytes > capacity_bytes) {
    fd_.reset();
    throw_truncated(peer_, *payload_bytes, capacity_bytes);
  }
  return header_bytes + *payload_bytes;
}

// Both ends send before either receives all, so what has come is taken while the kernel has no room for more.
std::size_t Link::finish_exchange(const std::byte* out, std::size_t frame_bytes, ssize_t first_sent, std::byte* in,
                                  std::size_t capacity_bytes) {
  if (first_sent < 0) throw_if_broken(errno);
  std::size_t sent = first_sent > 0 ? static_cast<std::size_t>(first_sent) : 0;
  std::size_t got = stashed_ > 0 ? take_stashed(in, header_bytes + capacity_bytes) : 0;
  Wait wait(policy_);
  while (sent < frame_bytes) {
    const std::size_t room = room_in_frame(in, capacity_bytes, got);
    const std::size_t received = room > 0 ? receive_some(in + got, room) : 0;
    const std::size_t taken = send_some(out + sent, frame_bytes - sent);
    got += received;
    sent += taken;
    if (received + taken > 0) {
      wait.begin_again();
    } else {
      wait_for_either(room > 0, wait);
    }
  }
  return got > 0 ? complete_frame(in, capacity_bytes, got) : recv(in, capacity_bytes);
}

std::size_t Link::room_in_frame(const std::byte* frame, std::size_t capacity_bytes, std::size_t got) {
  if (got < header_bytes) return std::min(header_bytes + capacity_bytes, stash_bytes) - got;
  const std::size_t frame_bytes = length_of_frame(frame, capacity_bytes);
  return frame_bytes - std::min(got, frame_bytes);
}

std::size_t Link::send_some(const std::byte* from, std::size_t bytes) {
  const ssize_t sent = ::send(fd_.get(), from, bytes, send_flags_ | MSG_DONTWAIT);
  if (sent >= 0) return static_cast<std::size_t>(sent);
  throw_if_broken(errno);
  return 0;
}

std::size_t Link::receive_some(std::byte* to, std::size_t most_bytes) {
  const ssize_t got = ::recv(fd_.get(), to, most_bytes, MSG_DONTWAIT);
  if (got == 0) fail_closed();
  if (got > 0) return static_cast<std::size_t>(got);
  throw_if_broken(errno);
  return 0;
}

void Link::wait_for_either(bool receives, Wait& wait) {
  if (waiting_ == Waiting::busy) {
    if (wait.is_rest_due() && wait.rest() && wait.is_late()) fail_late();
    return;
  }
  pollfd both{fd_.get(), static_cast<short>(receives ? POLLIN | POLLOUT : POLLOUT), 0};
  const auto limit = std::chrono::ceil<std::chrono::milliseconds>(policy_.time_limit).count();
  const int ready = poll(&both, 1, static_cast<int>(std::min<std::int64_t>(limit, std::numeric_limits<int>::max())));
  if (ready == 0) fail_late();
}

std::size_t Link::first_received(ssize_t got) {
  if (got > 0) return static_cast<std::size_t>(got);
  if (got == 0) fail_closed();
  Wait wait(policy_);
  wait_or_throw(wait);
  return 0;
}

std::size_t Link::receive_at_least(std::byte* to, std::size_t least_bytes, std::size_t most_bytes) {
  const int flags = receive_flags_ | (waiting_ == Waiting::block && least_bytes == most_bytes ? MSG_WAITALL : 0);
  Wait wait(policy_);
  std::size_t done = 0;
  while (done < least_bytes) {
    const ssize_t got = ::recv(fd_.get(), to + done, most_bytes - done, flags);
    if (got == 0) fail_closed();
    if (got < 0) {
      wait_or_throw(wait);
    } else {
      done += static_cast<std::size_t>(got);
      wait.begin_again();
    }
  }
  return done;
}

std::size_t Link::take_stashed(std::byte* to, std::size_t most_bytes) {
  const std::size_t bytes = std::min(stashed_, most_bytes);
  std::memcpy(to, stash_.get() + stash_begin_, bytes);
  stash_begin_ += bytes;
  stashed_ -= bytes;
  return bytes;
}

// What was taken from the stash a moment ago goes back to where it was; else the stash is empty.
void Link::stash(const std::byte* from, std::size_t bytes) {
  if (stashed_ > 0) {
    stash_begin_ -= bytes;
  } else {
    stash_begin_ = 0;
  }
  std::memcpy(stash_.get() + stash_begin_, from, bytes);
  stashed_ += bytes;
}

void Link::wait_or_throw(Wait& wait) {
  const int error = errno;
  throw_if_broken(error);
  if (error == EINTR) return;
  if (waiting_ == Waiting::busy && error != ETIMEDOUT) {
    if (!wait.is_rest_due()) return;
    if (!wait.rest() || !wait.is_late()) return;
  }
  fail_late();
}

void Link::throw_if_broken(int error) {
  if (!fd_.open()) throw_disconnected(peer_);
  if (error == EINTR || error == EAGAIN || error == EWOULDBLOCK || error == ETIMEDOUT) return;
  if (error == ECONNRESET || error == EPIPE) fail_closed();
  fd_.reset();
  throw_unreachable(peer_, error);
}

void Link::fail_late() {
  fd_.reset();
  throw_timed_out(peer_, policy_.time_limit);
}

void Link::fail_closed() {
  fd_.reset();
  throw_closed(peer_);
}

}  // namespace chiplog::stream
