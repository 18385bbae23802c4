#include "transports/unix/unix.hpp"

#include "worlds.hpp"

namespace chiplog::conformance {
namespace {

UnixTransport make_unix(Bootstrap& bootstrap, Limit limit) { return make_unix_transport(bootstrap, {}, limit); }

struct Unix : ForkedWorld<UnixTransport, make_unix> {
  static constexpr const char* name = "unix";
};
using Worlds = ::testing::Types<Unix>;

}  // namespace
}  // namespace chiplog::conformance

#include "suites.hpp"
