#ifdef CHIPLOG_WITH_OFI

#include "transports/ofi/ofi.hpp"

#include "worlds.hpp"

namespace chiplog::conformance {
namespace {

OfiTransport make_ofi_shm(Bootstrap& bootstrap, Limit limit) { return {bootstrap, {.provider = "shm"}, limit}; }
OfiTransport make_ofi_tcp(Bootstrap& bootstrap, Limit limit) {
  return {bootstrap, {.provider = "tcp", .domain = "lo"}, limit};
}

std::string missing_library() {
  return testing::outcome_of([] { (void)ofi::library(); });
}

// libfabric's shm takes a wrong key without a word: what is written with it is dropped, or never ends.
struct OfiShm : ForkedWorld<OfiTransport, make_ofi_shm> {
  static constexpr const char* name = "ofi_over_shm";
  static std::string missing() { return missing_library(); }
};
struct OfiTcp : ForkedWorld<OfiTransport, make_ofi_tcp> {
  static constexpr const char* name = "ofi_over_tcp";
  static constexpr bool refuses_wrong_keys = true;
  static std::string missing() { return missing_library(); }
};
using Worlds = ::testing::Types<OfiShm, OfiTcp>;

}  // namespace
}  // namespace chiplog::conformance

#include "suites.hpp"

#endif
