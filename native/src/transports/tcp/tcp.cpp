#include "transports/tcp/tcp.hpp"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <fstream>
#include <limits>
#include <sstream>

#include "chiplog/error.hpp"
#include "core/json_object.hpp"
#include "patterns/serve.hpp"
#include "transports/registry.hpp"
#include "transports/stream/mesh.hpp"
#include "transports/tcp/local_address.hpp"

namespace chiplog {
namespace {

constexpr int busy_poll_us = 50;

void set_option(int fd, int level, int option, int value) { setsockopt(fd, level, option, &value, sizeof value); }

int option_value(int fd, int level, int option) {
  int value = 0;
  socklen_t length = sizeof value;
  return getsockopt(fd, level, option, &value, &length) == 0 ? value : 0;
}

// Before the connection is made, because its window is agreed then.
PrepareSocket prepare_with(const TcpOptions& options, std::chrono::nanoseconds time_limit) {
  const auto limit_ms = std::chrono::ceil<std::chrono::milliseconds>(time_limit).count();
  return [&options, limit_ms](int fd) {
    set_option(fd, IPPROTO_TCP, TCP_NODELAY, options.nodelay ? 1 : 0);
    set_option(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, static_cast<int>(std::min<long long>(limit_ms, 1 << 30)));
    if (options.sndbuf) set_option(fd, SOL_SOCKET, SO_SNDBUF, *options.sndbuf);
    if (options.rcvbuf) set_option(fd, SOL_SOCKET, SO_RCVBUF, *options.rcvbuf);
    // Only a hint, and not everybody may give it.
    if (options.waiting == stream::Waiting::busy) set_option(fd, SOL_SOCKET, SO_BUSY_POLL, busy_poll_us);
  };
}

// The same on all that share a kernel.
std::string host_identity() {
  std::ifstream file("/proc/sys/kernel/random/boot_id");
  std::string identity;
  std::getline(file, identity);
  return identity;
}

FileDescriptor listen_as(Rank rank, const std::string& host, const TcpOptions& options, const PrepareSocket& prepare) {
  const unsigned port = options.port == 0 ? 0U : options.port + static_cast<unsigned>(rank);
  if (port > std::numeric_limits<std::uint16_t>::max()) {
    throw UsageError("option 'port' of tcp: port " + std::to_string(options.port) + " + rank " + std::to_string(rank) +
                     " is above 65535");
  }
  try {
    return listen_at(resolve(host, port), prepare);
  } catch (const UsageError&) {
    throw;
  } catch (const Error& error) {
    throw UsageError("option 'bind' or 'port' of tcp on rank " + std::to_string(rank) + ": " + error.what());
  }
}

bool is_loopback(const SocketAddress& address) {
  if (address.family == AF_INET) {
    return ntohl(reinterpret_cast<const sockaddr_in*>(address.get())->sin_addr.s_addr) >> 24U == 127U;
  }
  const auto* v6 = reinterpret_cast<const sockaddr_in6*>(address.get());
  return address.family == AF_INET6 && IN6_IS_ADDR_LOOPBACK(&v6->sin6_addr);
}

// Where a rank listens, as it tells the others.
struct Listening {
  std::string host;
  unsigned port = 0;
  std::string machine;
};

std::string publish(const Listening& there) {
  return there.host + '\n' + std::to_string(there.port) + '\n' + there.machine;
}

Listening parse_listening(const std::string& published) {
  std::istringstream text(published);
  Listening there;
  if (std::getline(text, there.host) && text >> there.port && text.get() == '\n' && std::getline(text, there.machine)) {
    return there;
  }
  throw Corrupt("the address that a rank listens at arrived damaged");
}

// What the option asked for and what the kernel made of it, as far as the first connection tells.
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

int run_tcp(RunContext& context) {
  Options& given = context.options;
  TcpOptions options;
  options.bind = given.text("bind", options.bind);
  options.port = static_cast<std::uint16_t>(given.integer("port", 0, 0, std::numeric_limits<std::uint16_t>::max()));
  if (given.choice("poll", "block", {"block", "busy"}) == "busy") options.waiting = stream::Waiting::busy;
  options.nodelay = given.choice("nodelay", "on", {"on", "off"}) == "on";
  options.sndbuf = buffer_bytes(given, "sndbuf");
  options.rcvbuf = buffer_bytes(given, "rcvbuf");
  given.refuse_unknown();
  TcpTransport transport = make_tcp_transport(*context.bootstrap, options, context.settings.time_limit);
  return serve_with_machine_clock(transport, context);
}

}  // namespace

TcpTransport make_tcp_transport(Bootstrap& bootstrap, const TcpOptions& options, std::chrono::nanoseconds time_limit) {
  const std::string host = local_address_for(options.bind);
  const PrepareSocket prepare = prepare_with(options, time_limit);
  const FileDescriptor listener = listen_as(bootstrap.rank(), host, options, prepare);
  const std::string identity = host_identity();
  const SocketAddress bound = local_address(listener.get());
  const auto address_of = [&](const std::string& published, Rank peer) {
    const Listening there = parse_listening(published);
    SocketAddress address = resolve(there.host, there.port);
    if (is_loopback(address) && there.machine != identity) {
      throw UsageError("option 'bind' of tcp: " + options.bind + " is a loopback address, but rank " +
                       std::to_string(peer) + " is on another host; give an interface or a network");
    }
    return address;
  };
  const std::string published = publish({host, port_of(bound), identity});
  std::vector<FileDescriptor> connections =
      stream::connect_mesh(bootstrap, listener, published, address_of, prepare, time_limit);
  std::string options_json = describe(options, host, connections);
  return {std::move(connections), options.waiting, time_limit, std::move(options_json)};
}

constinit const TransportEntry tcp_transport{
    .name = "tcp",
    .summary = "TCP sockets, one connection between every two ranks",
    .options = "bind=ADDRESS|INTERFACE|NETWORK/BITS,port=N,poll=block|busy,nodelay=on|off,sndbuf=BYTES,rcvbuf=BYTES",
    .capabilities = [] { return TcpMedium::capabilities(); },
    .run = run_tcp,
};

}  // namespace chiplog
