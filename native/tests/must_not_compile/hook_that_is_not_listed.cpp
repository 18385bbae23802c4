// expected: T has a function of an ability that is not in T::Abilities
#include "sound_transport.hpp"

struct Unlisted : SoundTransport {
  std::vector<chiplog::Counter> counters();
};
static_assert(chiplog::TransportContract<Unlisted>::holds);
