#include "transports/unix/unix.hpp"

#include <sys/socket.h>
#include <sys/un.h>

#include <array>
#include <cstddef>
#include <cstdio>
#include <cstring>

#include "bootstrap/handshake.hpp"
#include "chiplog/error.hpp"
#include "core/json_object.hpp"
#include "patterns/make_endpoint.hpp"
#include "transports/registry.hpp"
#include "transports/stream/mesh.hpp"

namespace chiplog {
namespace {

std::string make_name() {
  std::string name = "chiplog-";
  for (const std::byte byte : make_nonce()) {
    std::array<char, 3> digits{};
    std::snprintf(digits.data(), digits.size(), "%02x", static_cast<unsigned>(byte));
    name += digits.data();
  }
  return name;
}

// A name in the abstract namespace: it begins with a zero byte, and it goes with its socket.
SocketAddress abstract_address(const std::string& name, Rank rank) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (name.size() + 1 > sizeof address.sun_path) throw Corrupt("a socket's name arrived damaged");
  std::memcpy(address.sun_path + 1, name.data(), name.size());
  SocketAddress result;
  result.family = AF_UNIX;
  result.bytes.resize(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  std::memcpy(result.bytes.data(), &address, result.bytes.size());
  result.name = "rank " + std::to_string(rank) + "'s Unix socket (are all ranks on one host?)";
  return result;
}

std::string describe(const UnixOptions& options, const std::vector<FileDescriptor>& connections) {
  JsonObject json;
  json.add("poll", options.waiting == stream::Waiting::busy ? "busy" : "block");
  for (const FileDescriptor& connection : connections) {
    if (!connection.open()) continue;
    int bytes = 0;
    socklen_t length = sizeof bytes;
    if (getsockopt(connection.get(), SOL_SOCKET, SO_SNDBUF, &bytes, &length) == 0) json.add("sndbuf_bytes", bytes);
    break;
  }
  return json.text();
}

std::unique_ptr<Endpoint> make_unix_endpoint(Bootstrap& bootstrap, Options& given, const RunSettings& settings) {
  UnixOptions options;
  if (given.choice("poll", "block", {"block", "busy"}) == "busy") options.waiting = stream::Waiting::busy;
  if (given.has("sndbuf")) {
    const std::uint64_t bytes = given.bytes("sndbuf", 0);
    if (bytes == 0 || bytes > std::uint64_t{1} << 30U) {
      throw UsageError(given.named("sndbuf") + " accepts 1 B to 1 GiB");
    }
    options.sndbuf = static_cast<int>(bytes);
  }
  given.refuse_unknown();
  return make_endpoint(bootstrap, settings.time_limit,
                       [&] { return make_unix_transport(bootstrap, options, settings.time_limit); });
}

}  // namespace

UnixTransport make_unix_transport(Bootstrap& bootstrap, const UnixOptions& options,
                                  std::chrono::nanoseconds time_limit) {
  const PrepareSocket prepare = [&](int fd) {
    if (options.sndbuf) setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &*options.sndbuf, sizeof *options.sndbuf);
  };
  const std::string name = make_name();
  const FileDescriptor listener = listen_at(abstract_address(name, bootstrap.rank()), prepare);
  std::vector<FileDescriptor> connections =
      stream::connect_mesh(bootstrap, listener, name, abstract_address, prepare, time_limit);
  std::string options_json = describe(options, connections);
  return {std::move(connections), options.waiting, time_limit, std::move(options_json)};
}

constinit const TransportEntry unix_transport{
    .name = "unix",
    .summary = "Unix-domain stream sockets between ranks of one host",
    .options = "poll=block|busy,sndbuf=BYTES",
    .capabilities = UnixTransport::declared_capabilities,
    .ranks = OneProcessARank{.make_endpoint = make_unix_endpoint},
};

}  // namespace chiplog
