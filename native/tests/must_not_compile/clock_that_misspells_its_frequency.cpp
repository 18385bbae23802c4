// expected: an ability in C::Abilities has no such function in C
#include "sound_transport.hpp"

struct Misspelt {
  using Abilities = chiplog::AbilityList<chiplog::ability::MeasuresFrequency>;
  chiplog::Ticks now();
  double interval_ns(chiplog::Ticks begin, chiplog::Ticks end);
  double resolution_ns();
  double overhead_ns();
  chiplog::Ticks busy_wait(double nanoseconds);
  std::string_view name();
  double frequency();
};
static_assert(chiplog::ClockContract<Misspelt>::holds);
