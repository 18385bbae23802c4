#include "transports/stream/mesh.hpp"

#include <utility>

#include "bootstrap/handshake.hpp"

namespace chiplog::stream {
namespace {

std::string random_key() {
  const Nonce nonce = make_nonce();
  return {reinterpret_cast<const char*>(nonce.data()), nonce.size()};
}

}  // namespace

// Rank 0 only answers calls, rank 1 calls rank 0 and then answers, and so on: no circle of waiting ranks.
std::vector<FileDescriptor> connect_mesh(
    Bootstrap& bootstrap, const FileDescriptor& listener, const std::string& published,
    const std::function<SocketAddress(const std::string& published, Rank peer)>& address_of,
    const PrepareSocket& prepare, std::chrono::nanoseconds time_limit) {
  const Rank rank = bootstrap.rank();
  const std::string key = bootstrap.broadcast(rank == 0 ? random_key() : std::string{});
  const std::vector<std::string> addresses = bootstrap.all_gather(published);
  const Membership member{{rank, bootstrap.size()}, key, time_limit};

  std::vector<FileDescriptor> called;
  for (Rank peer = 0; peer < rank; ++peer) {
    const SocketAddress address = address_of(addresses[static_cast<std::size_t>(peer)], peer);
    called.push_back(call_rank(address, member, Refusal::is_final, prepare));
  }
  std::vector<FileDescriptor> connections = await_callers(listener, member);
  for (std::size_t peer = 0; peer < called.size(); ++peer) connections[peer] = std::move(called[peer]);
  for (const FileDescriptor& connection : connections) {
    if (connection.open() && prepare) prepare(connection.get());
  }
  return connections;
}

}  // namespace chiplog::stream
