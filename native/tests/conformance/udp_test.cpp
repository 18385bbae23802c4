#include "transports/udp/udp.hpp"

#include "worlds.hpp"

namespace chiplog::conformance {
namespace {

UdpTransport make_udp(Bootstrap& bootstrap, Limit limit) { return make_udp_transport(bootstrap, {}, limit); }

// A transport whose messages are single datagrams.
struct DatagramTransport : UdpTransport {
  static constexpr bool sends_datagrams = true;
  static constexpr std::size_t datagram_bytes = 5000;

  explicit DatagramTransport(UdpTransport&& transport) : UdpTransport(std::move(transport)) {}
  [[nodiscard]] Capabilities capabilities() const { return {.max_message_bytes = datagram_bytes}; }
};
DatagramTransport make_busy_datagrams(Bootstrap& bootstrap, Limit limit) {
  const UdpOptions options{.waiting = udp::Waiting::busy, .datagram_bytes = DatagramTransport::datagram_bytes};
  return DatagramTransport(make_udp_transport(bootstrap, options, limit));
}

struct Udp : ForkedWorld<UdpTransport, make_udp> {
  static constexpr const char* name = "udp";
};
struct BusyDatagrams : ForkedWorld<DatagramTransport, make_busy_datagrams> {
  static constexpr const char* name = "udp_of_single_datagrams_that_polls";
};
using Worlds = ::testing::Types<Udp, BusyDatagrams>;

}  // namespace
}  // namespace chiplog::conformance

#include "suites.hpp"
