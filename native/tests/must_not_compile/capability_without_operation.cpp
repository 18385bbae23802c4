// expected: AtomicOperations and declared_capabilities\(\).atomics must agree
#include "sound_transport.hpp"

struct ClaimsAtomics : SoundRemoteTransport {
  static constexpr chiplog::Capabilities declared_capabilities() {
    return {.remote_write = true, .remote_read = true, .atomics = true};
  }
};
static_assert(chiplog::TransportContract<ClaimsAtomics>::holds);
