// The transports that tests of several ranks run over, by how each is made.
#pragma once

#include <chrono>
#include <string>

#include "chiplog/bootstrap.hpp"
#include "processes.hpp"
#include "transports/shm/shm.hpp"
#include "transports/tcp/tcp.hpp"
#include "transports/udp/udp.hpp"
#include "transports/unix/unix.hpp"

#ifdef CHIPLOG_WITH_OFI
#include "transports/ofi/ofi.hpp"
#endif
#ifdef CHIPLOG_WITH_UCX
#include "transports/ucx/ucx.hpp"
#endif

namespace chiplog::testing {

using Limit = std::chrono::nanoseconds;

struct Shm {
  static ShmTransport make(Bootstrap& bootstrap, Limit limit) { return {bootstrap, {}, limit}; }
};
struct Unix {
  static UnixTransport make(Bootstrap& bootstrap, Limit limit) { return make_unix_transport(bootstrap, {}, limit); }
};
struct Tcp {
  static TcpTransport make(Bootstrap& bootstrap, Limit limit) { return make_tcp_transport(bootstrap, {}, limit); }
};
struct BusyTcp {
  static TcpTransport make(Bootstrap& bootstrap, Limit limit) {
    return make_tcp_transport(bootstrap, {.waiting = stream::Waiting::busy}, limit);
  }
};

#ifdef CHIPLOG_WITH_OFI
struct OfiShm {
  static OfiTransport make(Bootstrap& bootstrap, Limit limit) { return {bootstrap, {.provider = "shm"}, limit}; }
  static std::string missing() {
    return outcome_of([] { (void)ofi::library(); });
  }
};
struct OfiTcp : OfiShm {
  static OfiTransport make(Bootstrap& bootstrap, Limit limit) {
    return {bootstrap, {.provider = "tcp", .domain = "lo"}, limit};
  }
};
#endif

#ifdef CHIPLOG_WITH_UCX
struct UcxShm {
  static UcxTransport make(Bootstrap& bootstrap, Limit limit) { return {bootstrap, {.tls = "shm"}, limit}; }
  static std::string missing() {
    return outcome_of([] { const ucx::Library library; });
  }
};
struct UcxTcp : UcxShm {
  static UcxTransport make(Bootstrap& bootstrap, Limit limit) {
    return {bootstrap, {.tls = "tcp", .devices = "lo"}, limit};
  }
};
#endif

struct Udp {
  static UdpTransport make(Bootstrap& bootstrap, Limit limit) { return make_udp_transport(bootstrap, {}, limit); }
};

}  // namespace chiplog::testing
