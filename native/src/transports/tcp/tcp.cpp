#include "transports/tcp/tcp.hpp"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <limits>

#include "chiplog/error.hpp"
#include "core/json_object.hpp"
#include "patterns/make_endpoint.hpp"
#include "transports/registry.hpp"
#include "transports/stream/frame.hpp"
#include "transports/tcp/local_address.hpp"
#include "transports/tcp/mesh.hpp"

namespace chiplog {
namespace {

constexpr int busy_poll_us = 50;

void set_option(int fd, int level, int option, int value) { setsockopt(fd, level, option, &value, sizeof value); }

int option_value(int fd, int level, int option) {
  int value = 0;
  socklen_t length = sizeof value;
  return getsockopt(fd, level, option, &value, &length) == 0 ? value : 0;
}

// The longest message that travels in one segment. The segment in use grows to this size with the peer's window, so
// that TCP_MAXSEG would tell a smaller one before the first long message.
int segment_payload_bytes(int fd) {
  tcp_info info{};
  socklen_t length = sizeof info;
  if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &length) != 0) return 0;
  return static_cast<int>(info.tcpi_advmss) - static_cast<int>(stream::header_bytes);
}

// This comes before the connection is made, because its window is agreed then.
PrepareSocket prepare_with(const TcpOptions& options, std::chrono::nanoseconds time_limit) {
  const auto limit_ms = std::chrono::ceil<std::chrono::milliseconds>(time_limit).count();
  return [&options, limit_ms](int fd) {
    set_option(fd, IPPROTO_TCP, TCP_NODELAY, options.nodelay ? 1 : 0);
    set_option(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, static_cast<int>(std::min<long long>(limit_ms, 1 << 30)));
    if (options.sndbuf) set_option(fd, SOL_SOCKET, SO_SNDBUF, *options.sndbuf);
    if (options.rcvbuf) set_option(fd, SOL_SOCKET, SO_RCVBUF, *options.rcvbuf);
    // It is only a hint, and needs a privilege.
    if (options.waiting == stream::Waiting::busy) set_option(fd, SOL_SOCKET, SO_BUSY_POLL, busy_poll_us);
  };
}

// The options asked for and the kernel's values, as the first connection shows them.
std::string describe(const TcpOptions& options, const std::string& host,
                     const std::vector<FileDescriptor>& connections) {
  JsonObject json;
  json.add("bind", host);
  json.add("poll", options.waiting == stream::Waiting::busy ? "busy" : "block");
  for (const FileDescriptor& connection : connections) {
    if (!connection.open()) continue;
    const int fd = connection.get();
    json.add("nodelay", option_value(fd, IPPROTO_TCP, TCP_NODELAY) != 0);
    json.add("sndbuf_bytes", option_value(fd, SOL_SOCKET, SO_SNDBUF));
    json.add("rcvbuf_bytes", option_value(fd, SOL_SOCKET, SO_RCVBUF));
    json.add("buffers", options.sndbuf || options.rcvbuf ? "fixed" : "by the kernel");
    json.add("busy_poll_us", option_value(fd, SOL_SOCKET, SO_BUSY_POLL));
    if (const int bytes = segment_payload_bytes(fd); bytes > 0) json.add("segment_bytes", bytes);
    break;
  }
  return json.text();
}

std::optional<int> buffer_bytes(Options& options, std::string_view key) {
  if (!options.has(key)) return std::nullopt;
  const std::uint64_t bytes = options.bytes(key, 0);
  constexpr std::uint64_t most = std::uint64_t{1} << 30U;
  if (bytes == 0 || bytes > most) throw UsageError(options.named(key) + " accepts 1 B to 1 GiB");
  return static_cast<int>(bytes);
}

std::unique_ptr<Endpoint> make_tcp_endpoint(Bootstrap& bootstrap, Options& given, const RunSettings& settings) {
  TcpOptions options;
  options.bind = given.text("bind", options.bind);
  options.port = static_cast<std::uint16_t>(given.integer("port", 0, 0, std::numeric_limits<std::uint16_t>::max()));
  if (given.choice("poll", "block", {"block", "busy"}) == "busy") options.waiting = stream::Waiting::busy;
  options.nodelay = given.choice("nodelay", "on", {"on", "off"}) == "on";
  options.sndbuf = buffer_bytes(given, "sndbuf");
  options.rcvbuf = buffer_bytes(given, "rcvbuf");
  given.refuse_unknown();
  return make_endpoint(bootstrap, settings.time_limit,
                       [&] { return make_tcp_transport(bootstrap, options, settings.time_limit); });
}

}  // namespace

TcpTransport make_tcp_transport(Bootstrap& bootstrap, const TcpOptions& options, std::chrono::nanoseconds time_limit) {
  const std::string host = own_address(bootstrap, options.bind);
  const PrepareSocket prepare = prepare_with(options, time_limit);
  std::vector<FileDescriptor> connections =
      connect_over_tcp(bootstrap, {"tcp", options.bind, host, options.port}, prepare, time_limit);
  std::string options_json = describe(options, host, connections);
  return {std::move(connections), options.waiting, time_limit, std::move(options_json)};
}

constinit const TransportEntry tcp_transport{
    .name = "tcp",
    .summary = "TCP sockets, one connection between every two ranks",
    .options = "bind=ADDRESS|INTERFACE|NETWORK/BITS,port=N,poll=block|busy,nodelay=on|off,sndbuf=BYTES,rcvbuf=BYTES",
    .capabilities = TcpTransport::declared_capabilities,
    .ranks = OneProcessARank{.make_endpoint = make_tcp_endpoint},
};

}  // namespace chiplog
