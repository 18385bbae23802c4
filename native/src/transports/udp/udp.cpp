#include "transports/udp/udp.hpp"

#include <netinet/in.h>
#include <netinet/ip.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <sstream>
#include <utility>

#include "bootstrap/handshake.hpp"
#include "bootstrap/meeting.hpp"
#include "chiplog/error.hpp"
#include "core/json_object.hpp"
#include "patterns/make_endpoint.hpp"
#include "transports/registry.hpp"
#include "transports/tcp/local_address.hpp"
#include "transports/tcp/mesh.hpp"

namespace chiplog {
namespace {

constexpr int wanted_buffer_bytes = 4 << 20;
constexpr std::size_t max_datagram_bytes = 65507;  // of IPv4; IPv6 has room for 20 bytes less
constexpr std::size_t ip_and_udp_header_bytes = 48;
constexpr double least_bytes_per_second = 100e3;
constexpr double least_messages_per_second = 1.0;

int buffer_bytes(int fd) {
  int bytes = 0;
  socklen_t length = sizeof bytes;
  return getsockopt(fd, SOL_SOCKET, SO_RCVBUF, &bytes, &length) == 0 ? bytes : 0;
}

// Asks for the largest buffer that the system gives.
void enlarge_buffers(int fd) {
  for (const auto& [forced, usual] : {std::pair{SO_RCVBUFFORCE, SO_RCVBUF}, std::pair{SO_SNDBUFFORCE, SO_SNDBUF}}) {
    if (setsockopt(fd, SOL_SOCKET, forced, &wanted_buffer_bytes, sizeof wanted_buffer_bytes) == 0) continue;
    setsockopt(fd, SOL_SOCKET, usual, &wanted_buffer_bytes, sizeof wanted_buffer_bytes);
  }
}

FileDescriptor bind_socket(const std::string& host) {
  const SocketAddress address = resolve(host, 0);
  FileDescriptor fd = open_socket(address.family, SOCK_DGRAM);
  if (bind(fd.get(), address.get(), static_cast<socklen_t>(address.bytes.size())) != 0) {
    throw UsageError("option 'bind' of udp: no socket at " + host + ": " + system_error_text(errno));
  }
  enlarge_buffers(fd.get());
  return fd;
}

// What a rank tells of its end of the links: where, how much room, and one port for each rank.
struct Ends {
  std::string host;
  std::size_t buffer_bytes = 0;
  std::vector<unsigned> ports;
};

std::string publish(const Ends& ends) {
  std::string text = ends.host + '\n' + std::to_string(ends.buffer_bytes);
  for (const unsigned port : ends.ports) text += ' ' + std::to_string(port);
  return text;
}

Ends parse_ends(const std::string& published, std::size_t ranks) {
  std::istringstream text(published);
  Ends ends;
  std::getline(text, ends.host);
  text >> ends.buffer_bytes;
  for (unsigned port = 0; text >> port;) ends.ports.push_back(port);
  if (ends.ports.size() != ranks) throw Corrupt("the ports of a rank arrived damaged");
  return ends;
}

void connect_to(const FileDescriptor& fd, const Ends& there, Rank self, Rank peer) {
  const SocketAddress address = resolve(there.host, there.ports[static_cast<std::size_t>(self)]);
  if (connect(fd.get(), address.get(), static_cast<socklen_t>(address.bytes.size())) == 0) return;
  throw UsageError("option 'bind' of udp: rank " + std::to_string(peer) + " at " + there.host +
                   " can't be reached from rank " + std::to_string(self) + ": " + system_error_text(errno));
}

// What of a message travels in one packet to the other end.
std::size_t payload_in_a_packet(int fd) {
  int packet_bytes = 0;
  socklen_t length = sizeof packet_bytes;
  const bool known = getsockopt(fd, IPPROTO_IP, IP_MTU, &packet_bytes, &length) == 0 ||
                     getsockopt(fd, IPPROTO_IPV6, IPV6_MTU, &packet_bytes, &length) == 0;
  constexpr std::size_t smallest_packet_bytes = 576;
  constexpr std::size_t longest_packet_bytes = 65535;
  const std::size_t bytes = known ? static_cast<std::size_t>(packet_bytes) : smallest_packet_bytes;
  return std::clamp(bytes, smallest_packet_bytes, longest_packet_bytes) - ip_and_udp_header_bytes - sizeof(udp::Header);
}

std::uint32_t draw_run(Bootstrap& bootstrap) {
  const Nonce nonce = make_nonce();
  std::uint32_t run = 0;
  const std::string drawn = bootstrap.broadcast({reinterpret_cast<const char*>(nonce.data()), sizeof run});
  if (drawn.size() != sizeof run) throw Corrupt("the mark of this run arrived damaged");
  std::memcpy(&run, drawn.data(), sizeof run);
  return run;
}

std::string describe(const UdpOptions& options, const std::string& host, std::size_t datagram_bytes,
                     std::size_t window_bytes, std::size_t own_buffer_bytes) {
  JsonObject json;
  json.add("bind", host);
  json.add("poll", options.waiting == udp::Waiting::busy ? "busy" : "block");
  json.add("datagram_bytes", datagram_bytes);
  json.add("window_bytes", window_bytes);
  json.add("rcvbuf_bytes", own_buffer_bytes);
  if (options.bytes_per_second > 0.0) json.add("bytes_per_second", options.bytes_per_second);
  if (options.messages_per_second > 0.0) json.add("messages_per_second", options.messages_per_second);
  return json.text();
}

std::optional<std::size_t> size_option(Options& given, std::string_view key, std::size_t low, std::size_t high) {
  if (!given.has(key)) return std::nullopt;
  const std::uint64_t bytes = given.bytes(key, 0);
  if (bytes < low || bytes > high) {
    throw UsageError(given.named(key) + " accepts " + std::to_string(low) + " to " + std::to_string(high) + " bytes");
  }
  return bytes;
}

double least(double rate, double lowest, const std::string& option, const std::string& lowest_text) {
  if (rate != 0.0 && rate < lowest) throw UsageError(option + " accepts at least " + lowest_text);
  return rate;
}

std::unique_ptr<Endpoint> make_udp_endpoint(Bootstrap& bootstrap, Options& given, const RunSettings& settings) {
  UdpOptions options;
  options.bind = given.text("bind", options.bind);
  if (given.choice("poll", "block", {"block", "busy"}) == "busy") options.waiting = udp::Waiting::busy;
  options.datagram_bytes = size_option(given, "datagram", 64, max_datagram_bytes - 20 - sizeof(udp::Header));
  options.window_bytes = size_option(given, "window", 1024, std::size_t{1} << 30U);
  options.bytes_per_second =
      least(given.bytes_per_second("rate", 0.0), least_bytes_per_second, given.named("rate"), "100kB/s");
  options.messages_per_second = least(given.number("message-rate", 0.0, 0.0, 1e9), least_messages_per_second,
                                      given.named("message-rate"), "1 a second");
  given.refuse_unknown();
  return make_endpoint(bootstrap, settings.time_limit,
                       [&] { return make_udp_transport(bootstrap, options, settings.time_limit); });
}

}  // namespace

UdpTransport make_udp_transport(Bootstrap& bootstrap, const UdpOptions& options, std::chrono::nanoseconds time_limit) {
  const Rank self = bootstrap.rank();
  const auto ranks = static_cast<std::size_t>(bootstrap.size());
  const std::string host = own_address(bootstrap, options.bind);
  const PrepareSocket at_once = [](int fd) {
    const int on = 1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  };
  std::vector<FileDescriptor> beside = connect_over_tcp(bootstrap, {"udp", options.bind, host}, at_once, time_limit);

  std::vector<FileDescriptor> datagrams(ranks);
  Ends own{host, 0, std::vector<unsigned>(ranks, 0)};
  for (std::size_t peer = 0; peer < ranks; ++peer) {
    if (!beside[peer].open()) continue;
    datagrams[peer] = bind_socket(host);
    own.ports[peer] = port_of(local_address(datagrams[peer].get()));
    own.buffer_bytes = static_cast<std::size_t>(buffer_bytes(datagrams[peer].get()));
  }
  const std::vector<std::string> published = bootstrap.all_gather(publish(own));
  auto shared = std::make_unique<udp::Shared>(
      udp::Shared{.waiting = options.waiting,
                  .time_limit = time_limit,
                  .run = draw_run(bootstrap),
                  .pacer = udp::Pacer(options.bytes_per_second, options.messages_per_second),
                  .spill = std::make_unique<std::byte[]>(udp::Shared::spill_bytes)});
  std::vector<std::unique_ptr<udp::Link>> links(ranks);
  std::size_t payload_bytes = 0;
  std::size_t window_bytes = 0;
  for (std::size_t peer = 0; peer < ranks; ++peer) {
    if (!beside[peer].open()) continue;
    const Ends there = parse_ends(published[peer], ranks);
    connect_to(datagrams[peer], there, self, static_cast<Rank>(peer));
    payload_bytes = options.datagram_bytes.value_or(payload_in_a_packet(datagrams[peer].get()));
    window_bytes = options.window_bytes.value_or(there.buffer_bytes / 4 * 3);
    links[peer] = std::make_unique<udp::Link>(std::move(datagrams[peer]), std::move(beside[peer]),
                                              static_cast<Rank>(peer), payload_bytes, window_bytes, *shared);
  }
  std::string options_json = describe(options, host, payload_bytes, window_bytes, own.buffer_bytes);
  return {std::move(shared), std::move(links), std::move(options_json)};
}

constinit const TransportEntry udp_transport{
    .name = "udp",
    .summary = "UDP datagrams between every two ranks: loss, duplicates and reordering repaired and counted",
    .options =
        "bind=ADDRESS|INTERFACE|NETWORK/BITS,poll=block|busy,datagram=BYTES,window=BYTES,rate=BYTES/s,message-rate=N",
    .capabilities = UdpTransport::declared_capabilities,
    .ranks = OneProcessARank{.make_endpoint = make_udp_endpoint},
};

}  // namespace chiplog
