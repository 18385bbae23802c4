// Ranks meet at a listening socket; strangers are rejected.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "bootstrap/handshake.hpp"
#include "bootstrap/socket.hpp"
#include "chiplog/error.hpp"

struct addrinfo;
struct sockaddr;

namespace chiplog {

// The address that a socket listens at or connects to, of any family, and its name in messages.
struct SocketAddress {
  int family = 0;
  std::vector<std::byte> bytes;  // a sockaddr
  std::string name;

  [[nodiscard]] const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(bytes.data()); }
};

// A host's name or numeric address, with a port; throws UsageError if the host is unknown.
SocketAddress resolve(const std::string& host, unsigned port);
// The address that a socket was bound to.
SocketAddress local_address(int fd);
// The port of an Internet address, 0 for other families.
[[nodiscard]] unsigned port_of(const SocketAddress& address);

// The numeric host of an Internet address, empty for other families. An IPv4 address that an IPv6 socket shows is IPv4.
[[nodiscard]] std::string numeric_host(const SocketAddress& address);
[[nodiscard]] bool is_loopback_host(std::string_view numeric_host);

// Called with each new socket before it listens or connects.
using PrepareSocket = std::function<void(int fd)>;

// This host doesn't have an address, or its port is taken.
class AddressRefused : public Error {
 public:
  explicit AddressRefused(const std::string& message) : Error(ExitCode::run_failed, message) {}
};

// A new socket of a type such as SOCK_STREAM; throws Error where the system has none to give.
FileDescriptor open_socket(int family, int type);

// Opens a listening stream socket; throws AddressRefused, which names the address, where it can't be had.
FileDescriptor listen_at(const SocketAddress& address, const PrepareSocket& prepare = {});

struct Membership {
  Claim self;
  std::string_view secret;
  std::chrono::nanoseconds time_limit;
};

// Nothing of a host answered, at whichever port.
class HostSilent : public TimedOut {
 public:
  using TimedOut::TimedOut;
};

// The host is there, but nobody listens at this port.
class NobodyListens : public Error {
 public:
  explicit NobodyListens(const std::string& message) : Error(ExitCode::run_failed, message) {}
};

// The rank that listens has turned this one away and proved that it may: they belong to one run, but not as this one
// says.
class TurnedAway : public Error {
 public:
  explicit TurnedAway(const std::string& message) : Error(ExitCode::run_failed, message) {}
};

// Throws UsageError unless `rank` is from 0 to `size` - 1 and `secret` is not empty.
void check_membership(Rank rank, int size, std::string_view secret);

// True to try again while nobody listens yet.
enum class Refusal { is_final, may_pass };

// Connects to the rank that listens at `address`. When it returns, both have proved that they know the secret.
// Throws TimedOut, Error with the address, or Error for a wrong secret.
FileDescriptor call_rank(const SocketAddress& address, const Membership& member, Refusal refusal,
                         const PrepareSocket& prepare = {});

// Waits until every rank above `member.self.rank` has called. The result has `size` entries; those of its own
// rank and below are empty. Strangers are dropped when they fail. Throws TimedOut, which tells of wrong secrets that
// were offered, and Error if a caller who knows the secret claims another size or somebody else's rank.
std::vector<FileDescriptor> await_callers(const FileDescriptor& listener, const Membership& member);

}  // namespace chiplog
