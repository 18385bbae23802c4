#include <charconv>
#include <utility>
#include <vector>

#include "bootstrap/bootstraps.hpp"
#include "bootstrap/meeting.hpp"
#include "bootstrap/star.hpp"
#include "chiplog/error.hpp"

namespace chiplog {
RendezvousPoint parse_rendezvous_point(std::string_view text) {
  const auto refuse = [&] {
    throw UsageError("a rendezvous is host:port or [IPv6 address]:port with a port from 1 to 65535, not '" +
                     std::string(text) + "'");
  };
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos || colon == 0) refuse();
  std::string_view host = text.substr(0, colon);
  const std::string_view digits = text.substr(colon + 1);
  if (host.front() == '[' && host.back() == ']') {
    host = host.substr(1, host.size() - 2);
  } else if (host.find(':') != std::string_view::npos) {
    refuse();
  }
  RendezvousPoint point{std::string(host), 0};
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), point.port);
  if (host.empty() || error != std::errc{} || end != digits.data() + digits.size() || point.port == 0) refuse();
  return point;
}

void check_membership(Rank rank, int size, std::string_view secret) {
  if (size < 1 || rank < 0 || rank >= size) {
    throw UsageError("rank " + std::to_string(rank) + " of " + std::to_string(size) + " ranks is none");
  }
  if (secret.empty()) {
    throw UsageError("a rendezvous needs a secret that is not empty: set CHIPLOG_SECRET on all ranks");
  }
}

std::unique_ptr<Bootstrap> make_rendezvous_bootstrap(const RendezvousPoint& point, Rank rank, int size,
                                                     std::string_view secret, std::chrono::nanoseconds time_limit) {
  check_membership(rank, size, secret);
  const SocketAddress address = resolve(point.host, point.port);
  const Membership member{{rank, size}, secret, time_limit};
  std::vector<FileDescriptor> connections;
  if (rank == 0) {
    const FileDescriptor listener = listen_at(address);
    connections = await_callers(listener, member);
  } else {
    connections.push_back(call_rank(address, member, Refusal::may_pass));
  }
  return make_tcp_star(member.self, std::move(connections), time_limit);
}

}  // namespace chiplog
