// Messages over TCP connections between all ranks.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "chiplog/bootstrap.hpp"
#include "transports/stream/transport.hpp"

namespace chiplog {

struct TcpMedium {
  static constexpr std::string_view name = "tcp";
  static constexpr std::size_t max_posted_sends = 1024;
  // Above the size that both kernels buffer a send waits for its receive, too, but that size follows the connection's
  // history; it is no protocol of its own.
  static constexpr Capabilities capabilities() {
    return {.multiple_hosts = true, .max_message_bytes = std::size_t{1} << 30U};
  }
};

using TcpTransport = stream::StreamTransport<TcpMedium>;
static_assert(TransportContract<TcpTransport>::holds);

struct TcpOptions {
  // An address or name of this host, one of its interfaces ("eth0"), or a network ("10.0.0.0/24") in which each rank
  // takes its own address. The last two also suit ranks on different hosts. Empty: as own_address() says.
  std::string bind = {};
  // Rank r listens at port + r. With 0 the system chooses a free port.
  std::uint16_t port = 0;
  stream::Waiting waiting = stream::Waiting::block;
  bool nodelay = true;
  // The sizes of the kernel's buffers, fixed before the connection is made. Without a value the kernel chooses.
  std::optional<int> sndbuf = std::nullopt;
  std::optional<int> rcvbuf = std::nullopt;
};

// Collective. Throws UsageError if this rank can't listen where it should or is on another host than a loopback
// address suits, Error or TimedOut naming the address that can't be reached.
TcpTransport make_tcp_transport(Bootstrap& bootstrap, const TcpOptions& options, std::chrono::nanoseconds time_limit);

}  // namespace chiplog
