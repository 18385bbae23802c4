// Messages over Unix-domain stream sockets between the ranks of one host.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string_view>

#include "chiplog/bootstrap.hpp"
#include "transports/stream/transport.hpp"

namespace chiplog {

struct UnixMedium {
  static constexpr std::string_view name = "unix";
  // The kernel counts some 750 bytes for each small message and takes 208 KiB by default.
  static constexpr std::size_t max_posted_sends = 256;
  // The kernel queues a fixed number of bytes, above which a send waits for its receive.
  static constexpr Capabilities capabilities() {
    return {.synchronises = true, .max_message_bytes = std::size_t{1} << 30U};
  }
};

using UnixTransport = stream::StreamTransport<UnixMedium>;
static_assert(TransportContract<UnixTransport>::holds);

struct UnixOptions {
  stream::Waiting waiting = stream::Waiting::block;
  // How many bytes the kernel queues. Without a value it is the system's default.
  std::optional<int> sndbuf = std::nullopt;
};

// Collective. Sockets have names that are in no file system and can't be guessed; nothing stays behind.
UnixTransport make_unix_transport(Bootstrap& bootstrap, const UnixOptions& options,
                                  std::chrono::nanoseconds time_limit);

}  // namespace chiplog
