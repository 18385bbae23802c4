#include "transports/cma/cma.hpp"

#include "worlds.hpp"

namespace chiplog::conformance {
namespace {

CmaTransport make_cma(Bootstrap& bootstrap, Limit limit) { return {bootstrap, {}, limit}; }
// Everything but empty messages by a rendezvous.
CmaTransport make_cma_without_eager(Bootstrap& bootstrap, Limit limit) {
  return {bootstrap, {.eager_bytes = 0}, limit};
}

struct Cma : ForkedWorld<CmaTransport, make_cma> {
  static constexpr const char* name = "cma";
  static constexpr bool needs_device = true;  // a permission, which can't be installed either
  static constexpr bool refuses_wrong_keys = true;
  static std::string missing() { return cma::what_forbids().why; }
};
struct CmaWithoutEager : ForkedWorld<CmaTransport, make_cma_without_eager> {
  static constexpr const char* name = "cma_without_eager";
  static constexpr bool needs_device = true;
  static constexpr bool refuses_wrong_keys = true;
  static std::string missing() { return cma::what_forbids().why; }
};
using Worlds = ::testing::Types<Cma, CmaWithoutEager>;

}  // namespace
}  // namespace chiplog::conformance

#include "suites.hpp"
