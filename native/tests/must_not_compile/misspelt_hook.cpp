// expected: an ability in T::Abilities has no such function in T
#include "sound_transport.hpp"

struct Misspelt : SoundTransport {
  using Abilities = chiplog::AbilityList<chiplog::ability::Flushes>;
  void flsh();
};
static_assert(chiplog::TransportContract<Misspelt>::holds);
