// One run from its header to its footer, the same for every transport.
#pragma once

#include <memory>

#include "chiplog/bootstrap.hpp"
#include "core/endpoint.hpp"
#include "core/pinning.hpp"
#include "core/placement.hpp"
#include "core/record_sink.hpp"
#include "core/request_source.hpp"
#include "core/run_settings.hpp"

namespace chiplog {

// How this rank was started, as far as the records need it.
struct RankStart {
  // The binding of the ranks, made before the endpoint.
  Binding binding = {};
  // Made before the ranks were forked. Without it the ranks of a real machine agree on one of their own.
  std::unique_ptr<PlacementPage> placement = {};
};

// Rank 0 reads requests and writes records. Returns the exit code.
[[nodiscard]] int lead_session(Endpoint& endpoint, Bootstrap& bootstrap, const RunSettings& settings, RankStart start,
                               RequestSource& requests, RecordSink& records);
// All other ranks follow rank 0's commands until it ends the run.
void follow_session(Endpoint& endpoint, Bootstrap& bootstrap, const RunSettings& settings, RankStart start);

}  // namespace chiplog
