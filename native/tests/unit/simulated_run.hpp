// A whole run over the simulated transport, from request lines to parsed records.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "core/run_settings.hpp"

namespace chiplog::testing {

using Json = nlohmann::ordered_json;

struct SimulatedRun {
  int exit_code = -1;
  std::string text;
  std::vector<Json> lines;

  [[nodiscard]] const Json& header() const { return lines.front(); }
  [[nodiscard]] const Json& footer() const { return lines.back(); }
  [[nodiscard]] std::vector<Json> of_type(const std::string& type) const;
};

// Throws what the run throws.
SimulatedRun run_simulated(const std::string& target, const std::string& requests, RunSettings settings = {});

// One request of one series with `samples` samples and no budget to speak of.
std::string request_for(const std::string& series, int samples = 6);

// The median of a series' samples after warm-up, for one operation, in nanoseconds.
double median_ns(const Json& series);

// The median of the only series of the only record of a run.
double measure_ns(const std::string& target, const std::string& series, int samples = 6);

}  // namespace chiplog::testing
