// Makes a transport's endpoint.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <utility>

#include "chiplog/bootstrap.hpp"
#include "core/machine_clock.hpp"
#include "patterns/pattern_endpoint.hpp"

namespace chiplog {

// Makes an endpoint with the transport's own clock, a virtual or a simulated one.
template <class MakeTransport, class MakeClock>
std::unique_ptr<Endpoint> make_endpoint(Bootstrap& bootstrap, std::chrono::nanoseconds time_limit,
                                        MakeTransport make_transport, MakeClock make_clock) {
  using T = decltype(make_transport());
  using C = decltype(make_clock());
  const RankSettings self{bootstrap.rank(), bootstrap.size(), time_limit};
  return std::make_unique<PatternEndpoint<T, C>>(self, std::move(make_transport), std::move(make_clock));
}

// Makes an endpoint with the best clock of this machine.
template <class MakeTransport>
std::unique_ptr<Endpoint> make_endpoint(Bootstrap& bootstrap, std::chrono::nanoseconds time_limit,
                                        MakeTransport make_transport) {
  std::string why_not;
  if (const std::optional<CounterClock> counter = CounterClock::make(why_not)) {
    return make_endpoint(bootstrap, time_limit, std::move(make_transport), [&] { return *counter; });
  }
  return make_endpoint(bootstrap, time_limit, std::move(make_transport), [] { return RawClock(); });
}

}  // namespace chiplog
