// One connected stream socket that carries messages: one system call a message, in the expected case.
#pragma once

#include <sys/socket.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "bootstrap/socket.hpp"
#include "chiplog/transport.hpp"
#include "core/waiting.hpp"
#include "transports/stream/frame.hpp"

namespace chiplog::stream {

enum class Waiting { block, busy };

// Frames lie in memory as they travel: header, then payload. All waiting ends in PeerLost when the peer is gone and in
// TimedOut after the time limit. After an error the connection is closed: every later call ends in PeerLost.
class Link {
 public:
  Link(FileDescriptor fd, Rank peer, Waiting waiting, std::chrono::nanoseconds time_limit);

  // Returns when the kernel has taken all of it. `frame` has room for the header in front of the payload.
  void send(std::byte* frame, std::size_t payload_bytes) {
    store_header(frame, payload_bytes);
    const std::size_t frame_bytes = header_bytes + payload_bytes;
    const ssize_t sent = ::send(fd_.get(), frame, frame_bytes, send_flags_);
    if (sent != static_cast<ssize_t>(frame_bytes)) [[unlikely]] {
      finish_send(frame, frame_bytes, sent);
    }
  }

  // The payload's length. `frame` has room for a header and `capacity_bytes`.
  std::size_t recv(std::byte* frame, std::size_t capacity_bytes) {
    ssize_t got = 0;
    if (stashed_ == 0) [[likely]] {
      got = ::recv(fd_.get(), frame, std::min(header_bytes + capacity_bytes, stash_bytes), receive_flags_);
      if (got == static_cast<ssize_t>(header_bytes + capacity_bytes) && load_header(frame) == header_of(capacity_bytes))
          [[likely]] {
        return capacity_bytes;
      }
    }
    return finish_recv(frame, capacity_bytes, got);
  }

  // Sends and receives at the same time. Returns the length of what came.
  std::size_t exchange(std::byte* out, std::size_t payload_bytes, std::byte* in, std::size_t capacity_bytes) {
    store_header(out, payload_bytes);
    const std::size_t frame_bytes = header_bytes + payload_bytes;
    const ssize_t sent = ::send(fd_.get(), out, frame_bytes, send_flags_ | MSG_DONTWAIT);
    if (sent == static_cast<ssize_t>(frame_bytes)) [[likely]] {
      return recv(in, capacity_bytes);
    }
    return finish_exchange(out, frame_bytes, sent, in, capacity_bytes);
  }

 private:
  // A first read never takes more than can be stashed: it may hold the beginning of later messages.
  static constexpr std::size_t stash_bytes = 65536;

  void finish_send(const std::byte* frame, std::size_t frame_bytes, ssize_t sent);
  std::size_t finish_recv(std::byte* frame, std::size_t capacity_bytes, ssize_t first_got);
  // Receives the rest of a frame of which `got` bytes are there.
  std::size_t complete_frame(std::byte* frame, std::size_t capacity_bytes, std::size_t got);
  std::size_t finish_exchange(const std::byte* out, std::size_t frame_bytes, ssize_t sent, std::byte* in,
                              std::size_t capacity_bytes);
  // The length by its header, which is there. Throws where it is no header, or of more than `capacity_bytes`.
  [[nodiscard]] std::size_t length_of_frame(const std::byte* frame, std::size_t capacity_bytes);
  // The bytes that a read may add to a frame of which `got` are there; none where it is whole.
  [[nodiscard]] std::size_t room_in_frame(const std::byte* frame, std::size_t capacity_bytes, std::size_t got);
  // Moves what can be moved now. Each returns the number of bytes, 0 if none can.
  std::size_t send_some(const std::byte* from, std::size_t bytes);
  std::size_t receive_some(std::byte* to, std::size_t most_bytes);
  void wait_for_either(bool receives, Wait& wait);
  std::size_t first_received(ssize_t got);
  std::size_t receive_at_least(std::byte* to, std::size_t least_bytes, std::size_t most_bytes);
  std::size_t take_stashed(std::byte* to, std::size_t most_bytes);
  void stash(const std::byte* from, std::size_t bytes);
  // After a call that failed: returns if it is to be repeated, throws otherwise.
  void wait_or_throw(Wait& wait);
  // After a call that failed: throws unless it failed only because it would have had to wait.
  void throw_if_broken(int error);
  [[noreturn]] void fail_late();
  [[noreturn]] void fail_closed();

  FileDescriptor fd_;
  Rank peer_;
  Waiting waiting_;
  int send_flags_;
  int receive_flags_;
  std::size_t stash_begin_ = 0;
  std::size_t stashed_ = 0;
  std::unique_ptr<std::byte[]> stash_;
  WaitPolicy policy_;
};

}  // namespace chiplog::stream
