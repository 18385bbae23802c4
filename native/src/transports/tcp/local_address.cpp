#include "transports/tcp/local_address.hpp"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstddef>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "bootstrap/meeting.hpp"
#include "chiplog/error.hpp"
#include "core/error_text.hpp"

namespace chiplog {
namespace {

struct Network {
  int family = AF_UNSPEC;
  std::array<unsigned char, 16> prefix{};
  unsigned prefix_bits = 0;
};

// The address' own bytes, in network order; empty for other families.
std::span<const unsigned char> bytes_of_address(const sockaddr* address) {
  if (address->sa_family == AF_INET) {
    return {reinterpret_cast<const unsigned char*>(&reinterpret_cast<const sockaddr_in*>(address)->sin_addr), 4};
  }
  if (address->sa_family == AF_INET6) {
    return {reinterpret_cast<const unsigned char*>(&reinterpret_cast<const sockaddr_in6*>(address)->sin6_addr), 16};
  }
  return {};
}

std::optional<Network> parse_network(const std::string& text) {
  const std::size_t slash = text.find('/');
  if (slash == std::string::npos) return std::nullopt;
  Network network;
  const std::string prefix = text.substr(0, slash);
  network.family = prefix.find(':') == std::string::npos ? AF_INET : AF_INET6;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data() + slash + 1, end, network.prefix_bits);
  if (inet_pton(network.family, prefix.c_str(), network.prefix.data()) != 1 || error != std::errc{} || stop != end ||
      network.prefix_bits > (network.family == AF_INET ? 32U : 128U)) {
    throw UsageError("option 'bind' accepts a network such as 10.0.0.0/24, not '" + text + "'");
  }
  return network;
}

bool contains(const Network& network, const sockaddr* address) {
  if (address->sa_family != network.family) return false;
  const auto bytes = bytes_of_address(address);
  for (unsigned bit = 0; bit < network.prefix_bits; ++bit) {
    const unsigned mask = 0x80U >> bit % 8;
    if ((bytes[bit / 8] & mask) != (network.prefix[bit / 8] & mask)) return false;
  }
  return true;
}

std::string numeric(const sockaddr* address) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  inet_ntop(address->sa_family, bytes_of_address(address).data(), text.data(), text.size());
  return text.data();
}

}  // namespace

std::string local_address_for(const std::string& bind) {
  const std::optional<Network> network = parse_network(bind);
  if (!network && if_nametoindex(bind.c_str()) == 0) {
    if (!is_shortage(errno)) return bind;
    throw Error(ExitCode::run_failed, "can't look for interface " + bind + ": " + system_error_text(errno));
  }
  ifaddrs* first = nullptr;
  if (getifaddrs(&first) != 0)
    throw Error(ExitCode::run_failed, "the system doesn't tell its network addresses: " + system_error_text(errno));
  const std::unique_ptr<ifaddrs, decltype(&freeifaddrs)> addresses(first, freeifaddrs);
  // IPv4 first: link-local IPv6 addresses mean nothing without their interface.
  for (const int family : {AF_INET, AF_INET6}) {
    for (const ifaddrs* entry = addresses.get(); entry != nullptr; entry = entry->ifa_next) {
      if (entry->ifa_addr == nullptr || entry->ifa_addr->sa_family != family) continue;
      const bool matches = network ? contains(*network, entry->ifa_addr) : bind == entry->ifa_name;
      if (matches) return numeric(entry->ifa_addr);
    }
  }
  throw UsageError("option 'bind': this host has no address " +
                   (network ? "in network " + bind : "at interface " + bind));
}

std::string own_address(Bootstrap& bootstrap, const std::string& bind) {
  if (!bind.empty()) return local_address_for(bind);
  const std::string met_at = bootstrap.address();
  const std::vector<std::string> all = bootstrap.all_gather(met_at);
  const auto is_local = [](const std::string& address) { return address.empty() || is_loopback_host(address); };
  if (std::all_of(all.begin(), all.end(), is_local)) return "127.0.0.1";
  // A rank that met rank 0 over loopback is on its host.
  return is_local(met_at) ? all.front() : met_at;
}

}  // namespace chiplog
