// Ranks meet at a listening socket; what is not one of them is turned away.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "bootstrap/handshake.hpp"
#include "bootstrap/socket.hpp"

struct addrinfo;
struct sockaddr;

namespace chiplog {

// Where a socket listens or connects to: an address of any family, and how messages name it.
struct SocketAddress {
  int family = 0;
  std::vector<std::byte> bytes;  // a sockaddr
  std::string name;

  [[nodiscard]] const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(bytes.data()); }
};

// A host's name or numeric address, with a port; throws UsageError if the host is unknown.
SocketAddress resolve(const std::string& host, unsigned port);
// The address that a socket really got.
SocketAddress local_address(int fd);
// The port of an Internet address, 0 for other families.
[[nodiscard]] unsigned port_of(const SocketAddress& address);

// Called with each new socket before it listens or connects.
using PrepareSocket = std::function<void(int fd)>;

// A listening stream socket; throws Error naming the address if it can't be had.
FileDescriptor listen_at(const SocketAddress& address, const PrepareSocket& prepare = {});

struct Membership {
  Claim self;
  std::string_view secret;
  std::chrono::nanoseconds time_limit;
};

// Whether to try again while nobody listens yet.
enum class Refusal { is_final, may_pass };

// Connects with the rank that listens at `address`; both have proved that they know the secret when it returns.
// Throws TimedOut, Error naming the address, or Error for a wrong secret.
FileDescriptor call_rank(const SocketAddress& address, const Membership& member, Refusal refusal,
                         const PrepareSocket& prepare = {});

// Waits until every rank above `member.self.rank` has called. The result has `size` entries, those of the ranks up to
// its own empty. Strangers are dropped as they fail; throws TimedOut, which tells of wrong secrets that were offered,
// and Error if a caller who knows the secret claims another size or somebody else's rank.
std::vector<FileDescriptor> await_callers(const FileDescriptor& listener, const Membership& member);

}  // namespace chiplog
