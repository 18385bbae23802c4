#include "core/record.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <limits>

#include "core/json_object.hpp"
#include "core/pair_groups.hpp"

namespace chiplog {
namespace {

void append_samples(std::string& text, const std::vector<double>& samples_ns) {
  std::array<char, 24> digits{};
  text += '[';
  for (std::size_t i = 0; i < samples_ns.size(); ++i) {
    if (i > 0) text += ',';
    const auto [end, error] = std::to_chars(digits.data(), digits.data() + digits.size(), std::llround(samples_ns[i]));
    text.append(digits.data(), end);
  }
  text += ']';
}

// The samples of each pair beside those of the slowest.
void append_pairs(std::string& text, const SeriesRecord& series) {
  const std::vector<Link> links = series.setup.pattern->links(series.setup);
  text += ",\"by_pair\":[";
  for (std::size_t pair = 0; pair < links.size(); ++pair) {
    if (pair > 0) text += ',';
    text += "{\"client\":" + std::to_string(links[pair].client) + ",\"server\":" + std::to_string(links[pair].server) +
            ",\"samples_ns\":";
    append_samples(text, series.by_pair_ns.at(pair));
    text += '}';
  }
  text += ']';
}

// Samples are the bulk of a file and are written without the JSON library.
void append_series(std::string& text, const SeriesRequest& request, const SeriesRecord& series) {
  const Pattern& pattern = *series.setup.pattern;
  text += JsonObject()
              .add("pattern", pattern.name)
              .add("operation", name_of(request.operation))
              .add("posting", name_of(request.posting))
              .add("direction", pattern.direction)
              .add("message_bytes", series.setup.message_bytes)
              .add("train", series.setup.train)
              .add("peers", series.setup.peers)
              .add("pairs", series.setup.pairs)
              .add("delay_ns", series.spent_delay_ns)
              .add("delay_requested_ns", series.setup.delay_ns)
              .add("batch", series.setup.batch)
              .add("warmup", series.warmup)
              .add("messages", series.wire.messages)
              .add("bytes", series.wire.bytes)
              .text();
  text.pop_back();
  if (const PairGroups* groups = series.setup.groups; groups != nullptr) {
    text += ",\"between\":" + json_list(groups->between);
  }
  for (std::size_t i = 0; i < pattern.settings.size(); ++i) {
    text += ",\"" + std::string(pattern.settings[i].name) + "\":" + std::to_string(series.setup.settings[i]);
  }
  text += ",\"samples_ns\":";
  append_samples(text, series.samples_ns);
  if (pattern.records_each_pair) append_pairs(text, series);
  text += '}';
}

std::string reference_json(const ReferenceTimes& times) {
  return JsonObject()
      .add("half_round_trip_ns", times.half_round_trip_ns)
      .add("gap_ns", times.gap_ns)
      .add("overhead_ns", times.overhead_ns)
      .text();
}

std::string counters_json(const std::vector<Counter>& counters) {
  JsonObject object;
  for (const Counter& counter : counters) object.add(counter.name, counter.count);
  return object.text();
}

}  // namespace

std::string record_json(const MeasureRequest& request, const Record& record) {
  constexpr double unknown = std::numeric_limits<double>::quiet_NaN();
  std::string text = JsonObject()
                         .add("type", "record")
                         .add("id", request.id)
                         .add("visit", request.visit)
                         .add("launch", record.launch)
                         .add("placement", record.placement)
                         .add("started_ns", record.started_ns)
                         .add("elapsed_ns", record.elapsed_ns)
                         .add("placement_ns", record.placement_ns.value_or(unknown))
                         .add("payload", record.payload_checked ? "ok" : "unchecked")
                         .add("stopped", record.stopped)
                         .add("relative_half_width", record.relative_half_width)
                         .text();
  text.pop_back();
  if (record.reference) text += ",\"reference\":" + reference_json(*record.reference);
  if (!record.counters.empty()) text += ",\"counters\":" + counters_json(record.counters);
  text += ",\"series\":[";
  for (std::size_t i = 0; i < record.series.size(); ++i) {
    if (i > 0) text += ',';
    append_series(text, request.series[i], record.series[i]);
  }
  text += "],\"tag\":" + request.tag_json + "}";
  return text;
}

}  // namespace chiplog
