// What a transport's entry function is given.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "chiplog/bootstrap.hpp"
#include "core/options.hpp"
#include "core/pinning.hpp"

namespace chiplog {

class RequestSource;
class RecordSink;
class PlacementPage;

// What the command line asked for; the same on every rank.
struct RunSettings {
  std::string version = "0";
  std::string target;
  std::string pin = "filled";  // filled, round-robin, none or a list of CPUs, one a rank
  std::chrono::nanoseconds time_limit = std::chrono::seconds(30);
  std::uint64_t seed = 0;
  int ranks = 2;
  int launch = 0;
};

struct RunContext {
  const RunSettings& settings;
  // Take what you know, then `refuse_unknown()`, before anything is opened.
  Options options;
  // Null for a transport whose ranks live in one process and that brings its own (`in_process`).
  Bootstrap* bootstrap = nullptr;
  // Both on rank 0 only, null elsewhere.
  RequestSource* requests = nullptr;
  RecordSink* records = nullptr;
  // Shared between ranks 0 and 1 before they were forked; null otherwise.
  PlacementPage* placement = nullptr;
  // How the ranks were bound before the transport was made.
  Binding binding{};
  // Simulated hosts, whose state is known and whose ranks can't spin side by side, turn the witnesses of the machine's
  // state off: the flag exchange and the reference.
  bool watch_machine = true;
  // A simulated host whose state changes takes the reference all the same.
  bool takes_reference = false;
};

}  // namespace chiplog
