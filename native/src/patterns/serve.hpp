// How a transport's entry function ends: `return serve_with_machine_clock(transport, context);`
#pragma once

#include "core/machine_clock.hpp"
#include "core/session.hpp"
#include "patterns/pattern_endpoint.hpp"

namespace chiplog {

// Runs the session over a transport and a clock of its own (a virtual or a simulated one); on every rank.
// Returns the process' exit code.
template <Transport T, Clock C>
int serve(T& transport, C& clock, RunContext& context) {
  const Bootstrap& bootstrap = *context.bootstrap;
  PatternEndpoint<T, C> endpoint(transport, clock, {bootstrap.rank(), bootstrap.size(), context.settings.time_limit});
  return run_session(endpoint, context);
}

// The same with the best clock of this machine.
template <Transport T>
int serve_with_machine_clock(T& transport, RunContext& context) {
  return with_machine_clock([&](auto& clock) { return serve(transport, clock, context); });
}

}  // namespace chiplog
