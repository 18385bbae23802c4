// expected: a pattern has a client and a server
#include "core/machine_clock.hpp"
#include "patterns/pattern_list.hpp"
#include "patterns/ping_pong.hpp"
#include "patterns/views/plain_messages.hpp"
#include "sound_transport.hpp"

struct OneSided {
  static constexpr chiplog::Pattern pattern = chiplog::patterns::PingPong::pattern;
  template <chiplog::MessageView M, chiplog::Clock C>
  static chiplog::Part client(chiplog::Workspace<M, C>& work, const chiplog::SeriesSetup& setup) {
    return chiplog::patterns::PingPong::client(work, setup);
  }
};

using Work = chiplog::Workspace<chiplog::views::PlainMessages<SoundTransport>, chiplog::RawClock>;
chiplog::Part part(Work& work, const chiplog::SeriesSetup& setup) {
  return chiplog::PatternList<OneSided>::part(work, chiplog::Role::client, setup);
}
