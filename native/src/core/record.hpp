// The records of a run file, as text.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/endpoint.hpp"
#include "core/reference.hpp"
#include "core/request.hpp"

namespace chiplog {

struct SeriesRecord {
  SeriesSetup setup;
  double spent_delay_ns = 0.0;  // what its busy waits really took
  std::int64_t warmup = 0;
  WireCount wire;
  std::vector<double> samples_ns;
  std::vector<std::vector<double>> by_pair_ns;  // of a pattern that records each pair, in the order of its links
};

struct Record {
  int launch = 0;
  std::string placement;  // how the ranks are bound
  std::int64_t started_ns = 0;
  std::int64_t elapsed_ns = 0;
  std::optional<double> placement_ns;
  std::optional<ReferenceTimes> reference;
  bool payload_checked = false;
  std::string_view stopped;
  double relative_half_width = 0.0;
  std::vector<Counter> counters;  // of all ranks, while this record was taken
  std::vector<SeriesRecord> series;
};

// A JSON object without its checksum. Samples are rounded to whole nanoseconds.
[[nodiscard]] std::string record_json(const MeasureRequest& request, const Record& record);

}  // namespace chiplog
