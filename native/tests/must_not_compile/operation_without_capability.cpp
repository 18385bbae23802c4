// expected: ReadsRemotely and declared_capabilities\(\).remote_read must agree
#include "sound_transport.hpp"

struct HidesReads : SoundRemoteTransport {
  static constexpr chiplog::Capabilities declared_capabilities() { return {.remote_write = true}; }
};
static_assert(chiplog::TransportContract<HidesReads>::holds);
