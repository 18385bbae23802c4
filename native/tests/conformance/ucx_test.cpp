#ifdef CHIPLOG_WITH_UCX

#include "transports/ucx/ucx.hpp"

#include "worlds.hpp"

namespace chiplog::conformance {
namespace {

UcxTransport make_ucx_shm(Bootstrap& bootstrap, Limit limit) { return {bootstrap, {.tls = "shm"}, limit}; }
UcxTransport make_ucx_tcp(Bootstrap& bootstrap, Limit limit) {
  return {bootstrap, {.tls = "tcp", .devices = "lo"}, limit};
}

std::string missing_library() {
  return testing::outcome_of([] { const ucx::Library library; });
}

// UCX takes the key of a window that is gone: over shared memory the writer keeps the pages, over TCP the target's own
// process is asked to write there.
struct UcxShm : ForkedWorld<UcxTransport, make_ucx_shm> {
  static constexpr const char* name = "ucx_over_shm";
  static std::string missing() { return missing_library(); }
};
struct UcxTcp : ForkedWorld<UcxTransport, make_ucx_tcp> {
  static constexpr const char* name = "ucx_over_tcp";
  static std::string missing() { return missing_library(); }
};
using Worlds = ::testing::Types<UcxShm, UcxTcp>;

}  // namespace
}  // namespace chiplog::conformance

#include "suites.hpp"

#endif
