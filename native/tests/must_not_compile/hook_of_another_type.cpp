// expected: an ability in T::Abilities has no such function in T
#include "sound_transport.hpp"

struct CountsAnInteger : SoundTransport {
  using Abilities = chiplog::AbilityList<chiplog::ability::Counts>;
  int counters();
};
static_assert(chiplog::TransportContract<CountsAnInteger>::holds);
