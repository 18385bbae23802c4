// One run from its header to its footer, the same for every transport.
#pragma once

#include "core/endpoint.hpp"
#include "core/run_context.hpp"

namespace chiplog {

// Every rank calls this. Rank 0 reads requests and writes records; the others follow it. Returns the exit code.
int run_session(Endpoint& endpoint, RunContext& context);

}  // namespace chiplog
