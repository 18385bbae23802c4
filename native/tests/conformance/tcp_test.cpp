#include "transports/tcp/tcp.hpp"

#include "worlds.hpp"

namespace chiplog::conformance {
namespace {

TcpTransport make_tcp(Bootstrap& bootstrap, Limit limit) { return make_tcp_transport(bootstrap, {}, limit); }
TcpTransport make_busy_tcp(Bootstrap& bootstrap, Limit limit) {
  return make_tcp_transport(bootstrap, {.waiting = stream::Waiting::busy}, limit);
}

struct Tcp : ForkedWorld<TcpTransport, make_tcp> {
  static constexpr const char* name = "tcp";
};
struct BusyTcp : ForkedWorld<TcpTransport, make_busy_tcp> {
  static constexpr const char* name = "tcp_that_polls";
};
using Worlds = ::testing::Types<Tcp, BusyTcp>;

}  // namespace
}  // namespace chiplog::conformance

#include "suites.hpp"
