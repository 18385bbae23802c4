#include "transports/tcp/mesh.hpp"

#include <netinet/in.h>
#include <sys/socket.h>

#include <limits>
#include <sstream>

#include "chiplog/error.hpp"
#include "core/machine.hpp"
#include "transports/stream/mesh.hpp"

namespace chiplog {
namespace {

FileDescriptor listen_as(Rank rank, const TcpAddress& own, const PrepareSocket& prepare) {
  const unsigned port = own.port == 0 ? 0U : own.port + static_cast<unsigned>(rank);
  if (port > std::numeric_limits<std::uint16_t>::max()) {
    throw UsageError("option 'port' of " + own.transport + ": port " + std::to_string(own.port) + " + rank " +
                     std::to_string(rank) + " is above 65535");
  }
  try {
    return listen_at(resolve(own.host, port), prepare);
  } catch (const AddressRefused& error) {
    throw UsageError("option 'bind' or 'port' of " + own.transport + " on rank " + std::to_string(rank) + ": " +
                     error.what());
  }
}

bool is_loopback(const SocketAddress& address) {
  if (address.family == AF_INET) {
    return ntohl(reinterpret_cast<const sockaddr_in*>(address.get())->sin_addr.s_addr) >> 24U == 127U;
  }
  const auto* v6 = reinterpret_cast<const sockaddr_in6*>(address.get());
  return address.family == AF_INET6 && IN6_IS_ADDR_LOOPBACK(&v6->sin6_addr);
}

// The address at which a rank listens, as it tells it to the others.
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

}  // namespace

std::vector<FileDescriptor> connect_over_tcp(Bootstrap& bootstrap, const TcpAddress& own, const PrepareSocket& prepare,
                                             std::chrono::nanoseconds time_limit) {
  const FileDescriptor listener = listen_as(bootstrap.rank(), own, prepare);
  const std::string identity = boot_id();
  const SocketAddress bound = local_address(listener.get());
  const auto address_of = [&](const std::string& published, Rank peer) {
    const Listening there = parse_listening(published);
    SocketAddress address = resolve(there.host, there.port);
    if (is_loopback(address) && there.machine != identity) {
      throw UsageError("option 'bind' of " + own.transport + ": " + own.bind + " is a loopback address, but rank " +
                       std::to_string(peer) + " is on another host; give an interface or a network");
    }
    return address;
  };
  const std::string published = publish({own.host, port_of(bound), identity});
  return stream::connect_mesh(bootstrap, listener, published, address_of, prepare, time_limit);
}

}  // namespace chiplog
