// RDMA devices; where there are none, testbeds/qemu makes them.
#ifdef CHIPLOG_WITH_VERBS

#include "transports/verbs/verbs.hpp"

#include "transports/registry.hpp"
#include "verbs_options.hpp"
#include "worlds.hpp"

namespace chiplog::conformance {
namespace {

VerbsTransport make_verbs(Bootstrap& bootstrap, Limit limit) { return {bootstrap, verbs_options(), limit}; }
// Event-driven, and nothing travels inside a request.
VerbsTransport make_event_verbs(Bootstrap& bootstrap, Limit limit) {
  VerbsOptions options = verbs_options();
  options.waiting = verbs::Waiting::event;
  options.inline_bytes = 0;
  return {bootstrap, options, limit};
}

std::string missing_device() {
  return availability_of(verbs_transport).usable ? "" : availability_of(verbs_transport).why;
}

struct Verbs : ForkedWorld<VerbsTransport, make_verbs> {
  static constexpr const char* name = "verbs";
  static constexpr bool refuses_wrong_keys = true;
  static constexpr bool needs_device = true;
  static std::string missing() { return missing_device(); }
};
struct EventVerbs : ForkedWorld<VerbsTransport, make_event_verbs> {
  static constexpr const char* name = "verbs_without_polling_and_inline";
  static constexpr bool refuses_wrong_keys = true;
  static constexpr bool needs_device = true;
  static std::string missing() { return missing_device(); }
};
using Worlds = ::testing::Types<Verbs, EventVerbs>;

}  // namespace
}  // namespace chiplog::conformance

#include "suites.hpp"

#endif
