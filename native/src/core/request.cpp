#include "core/request.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "chiplog/error.hpp"
#include "core/field_path.hpp"

namespace chiplog {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::int64_t max_train = 1'000'000;
constexpr std::int64_t max_peers = 1'000'000;
constexpr std::int64_t max_message_bytes = std::int64_t{1} << 40;
constexpr std::int64_t max_samples_limit = 1'000'000;
constexpr std::size_t max_series = 1024;
constexpr double max_delay_ns = 10e9;
constexpr std::int64_t max_budget_ns = std::int64_t{1} << 53;
constexpr std::int64_t max_id = std::int64_t{1} << 53;
constexpr std::array<std::string_view, 2> types{"measure", "quit"};
constexpr std::array<std::string_view, 2> directions{"round-trip", "one-way"};
constexpr std::int64_t max_rank = std::int64_t{1} << 24;

[[noreturn]] void refuse(const std::string& field, const std::string& accepts, const Json& value) {
  std::string text = value.dump(-1, ' ', false, Json::error_handler_t::replace);
  if (text.size() > 60) text = text.substr(0, 57) + "...";
  throw UsageError(field + " accepts " + accepts + ", not " + text);
}

void refuse_unknown(const Json& object, const std::string& name, const std::vector<std::string_view>& known) {
  for (const auto& [field, value] : object.items()) {
    if (std::find(known.begin(), known.end(), field) != known.end()) continue;
    std::string accepted;
    for (const std::string_view word : known) accepted += (accepted.empty() ? "" : ", ") + std::string(word);
    throw UsageError("unknown " + field_path(name, field.substr(0, 60)) + "; there are " + accepted);
  }
}

const Json* find(const Json& object, std::string_view field) {
  const auto at = object.find(field);
  return at == object.end() ? nullptr : &*at;
}

std::int64_t whole_number(const Json& object, const std::string& name, std::string_view field, std::int64_t fallback,
                          std::int64_t low, std::int64_t high) {
  const Json* value = find(object, field);
  if (value == nullptr) return fallback;
  const std::string accepts = "a whole number from " + std::to_string(low) + " to " + std::to_string(high);
  if (!value->is_number_integer()) refuse(field_path(name, field), accepts, *value);
  if (value->is_number_unsigned() && value->get<std::uint64_t>() > static_cast<std::uint64_t>(high)) {
    refuse(field_path(name, field), accepts, *value);
  }
  const auto number = value->get<std::int64_t>();
  if (number < low || number > high) refuse(field_path(name, field), accepts, *value);
  return number;
}

std::string word(const Json& object, const std::string& name, std::string_view field, std::string_view fallback,
                 std::span<const std::string_view> accepted) {
  const Json* value = find(object, field);
  if (value == nullptr) return std::string(fallback);
  if (value->is_string()) {
    const auto& text = value->get_ref<const std::string&>();
    if (std::find(accepted.begin(), accepted.end(), text) != accepted.end()) return text;
  }
  std::string accepts;
  for (const std::string_view choice : accepted) accepts += (accepts.empty() ? "" : " or ") + std::string(choice);
  refuse(field_path(name, field), accepts, *value);
}

// The index of the word in `accepted`, 0 if it is not there.
template <class Choice, std::size_t count>
Choice choose(const Json& object, const std::string& name, std::string_view field,
              const std::array<std::string_view, count>& accepted) {
  const std::string chosen = word(object, name, field, accepted.front(), accepted);
  return static_cast<Choice>(std::find(accepted.begin(), accepted.end(), chosen) - accepted.begin());
}

// Null if the request names no pattern, or one that does not exist.
const Pattern* named_pattern(const Json& object, Patterns patterns) {
  const Json* value = find(object, "pattern");
  if (value == nullptr || !value->is_string()) return nullptr;
  return find_pattern(patterns, value->get_ref<const std::string&>());
}

const Pattern* parse_pattern(const Json& object, const std::string& name, Patterns patterns) {
  const Json* value = find(object, "pattern");
  const std::string names = pattern_names(patterns);
  if (value == nullptr) throw UsageError(field_path(name, "pattern") + " is missing; it accepts " + names);
  const Pattern* pattern = named_pattern(object, patterns);
  if (pattern == nullptr) refuse(field_path(name, "pattern"), names, *value);
  return pattern;
}

// The fields that only this pattern takes. Other patterns have already refused them as unknown.
void parse_settings(const Json& object, const std::string& name, SeriesRequest& series) {
  std::size_t at = 0;
  for (const Setting& setting : series.pattern->settings) {
    series.settings[at++] = whole_number(object, name, setting.name, setting.fallback, setting.low, setting.high);
  }
}

// Disjoint pairs of ranks, [client, server].
void parse_links(const Json& object, const std::string& name, SeriesRequest& series) {
  const Json* value = find(object, "links");
  if (value == nullptr) return;
  const auto refuse_it = [&] {
    refuse(field_path(name, "links"), "a list of pairs of ranks, [client, server], each rank once", *value);
  };
  if (!value->is_array() || value->empty()) refuse_it();
  std::vector<Link> links;
  std::set<std::int64_t> seen;
  for (const Json& pair : *value) {
    if (!pair.is_array() || pair.size() != 2) refuse_it();
    for (const Json& end : pair) {
      if (!end.is_number_integer() || end.get<std::int64_t>() < 0 || end.get<std::int64_t>() > max_rank) refuse_it();
      if (!seen.insert(end.get<std::int64_t>()).second) refuse_it();
    }
    links.push_back({pair[0].get<Rank>(), pair[1].get<Rank>()});
  }
  series.links = std::make_shared<const std::vector<Link>>(std::move(links));
}

void parse_delay(const Json& object, const std::string& name, SeriesRequest& series) {
  const Json* value = find(object, "delay_ns");
  if (value == nullptr) return;
  if (*value == "rtt") {
    series.delay_kind = DelayKind::one_message_round_trip;
  } else if (*value == "rtt2") {
    series.delay_kind = DelayKind::two_message_round_trip;
  } else if (value->is_number() && value->get<double>() >= 0.0 && value->get<double>() <= max_delay_ns) {
    series.delay_ns = value->get<double>();
  } else {
    refuse(field_path(name, "delay_ns"), "nanoseconds from 0 to 1e10, \"rtt\" or \"rtt2\"", *value);
  }
}

// The groups, the number of pairs and the direction. A pattern without such a field accepts its default.
void parse_pairs(const Json& object, const std::string& name, SeriesRequest& series) {
  const Pattern& pattern = *series.pattern;
  const bool has_directions = pattern.one_way != nullptr;
  const std::array<std::pair<std::string_view, bool>, 4> fields{{{"pairs", pattern.takes_pair_groups},
                                                                 {"direction", has_directions},
                                                                 {"window", has_directions},
                                                                 {"between", pattern.takes_pair_groups}}};
  for (const auto& [field, is_taken] : fields) {
    const Json* value = find(object, field);
    const bool plain = value == nullptr || value->is_null() || *value == 1;
    if (!is_taken && !plain) refuse(field_path(name, field) + " of " + std::string(pattern.name), "1 or null", *value);
  }
  if (has_directions) {
    const Json* direction = find(object, "direction");
    const bool one_way =
        direction != nullptr && !direction->is_null() && word(object, name, "direction", "", directions) == "one-way";
    if (one_way) series.pattern = pattern.one_way;
    series.window = whole_number(object, name, "window", 1, 1, one_way ? max_train : 1);
  }
  if (!pattern.takes_pair_groups) return;
  series.pairs = whole_number(object, name, "pairs", 1, 1, max_peers);
  const Json* between = find(object, "between");
  if (between == nullptr || between->is_null()) return;
  const bool two =
      between->is_array() && between->size() == 2 && (*between)[0].is_string() && (*between)[1].is_string();
  if (!two) refuse(field_path(name, "between"), "the names of two groups", *between);
  series.between = {(*between)[0].get<std::string>(), (*between)[1].get<std::string>()};
}

void take_list_posting(const std::string& name, SeriesRequest& series) {
  const std::string pattern(series.pattern->name);
  if (series.pattern->as_list == nullptr) {
    throw UsageError(field_path(name, "posting") + " of " + pattern + " accepts normal");
  }
  series.pattern = series.pattern->as_list;
  if (series.pattern->train_is_peers && series.train != series.peers) {
    throw UsageError(field_path(name, "train") + " of " + pattern + " posted as a list accepts the number of peers, " +
                     std::to_string(series.peers) + ", not " + std::to_string(series.train));
  }
}

void parse_operation(const Json& object, const std::string& name, SeriesRequest& series) {
  series.operation = choose<Operation>(object, name, "operation", operation_names);
  series.posting = choose<Posting>(object, name, "posting", posting_names);
  const std::string operation(name_of(series.operation));
  const auto bytes = static_cast<std::int64_t>(series.message_bytes);
  if (!series.pattern->supports(series.operation)) {
    throw UsageError(field_path(name, "operation") + " of " + std::string(series.pattern->name) + " does not accept " +
                     operation);
  }
  if (series.operation == Operation::atomic && series.message_bytes != atomic_bytes) {
    throw UsageError(field_path(name, "message_bytes") + " of atomic accepts 8, not " + std::to_string(bytes));
  }
  if (series.operation != Operation::send && series.message_bytes == 0) {
    throw UsageError(field_path(name, "message_bytes") + " of " + operation + " accepts 1 and more, not 0");
  }
  if (series.posting == Posting::in_line && is_passive(series.operation)) {
    throw UsageError(field_path(name, "posting") + " of " + operation + " accepts normal or list: no payload goes out");
  }
  if (series.posting == Posting::list) take_list_posting(name, series);
}

// The fields that every pattern takes, and those of this one.
std::vector<std::string_view> fields_of(const Pattern* pattern) {
  std::vector<std::string_view> fields{"pattern", "message_bytes", "train",    "peers",     "pairs",  "direction",
                                       "window",  "between",       "delay_ns", "operation", "posting"};
  if (pattern == nullptr) return fields;
  for (const Setting& setting : pattern->settings) fields.push_back(setting.name);
  if (pattern->takes_links) fields.push_back("links");
  return fields;
}

SeriesRequest parse_series(const Json& object, const std::string& name, Patterns patterns) {
  if (!object.is_object()) refuse("field '" + name + "'", "an object", object);
  const Pattern* named = named_pattern(object, patterns);
  refuse_unknown(object, name, fields_of(named));
  SeriesRequest series;
  series.pattern = parse_pattern(object, name, patterns);
  if (find(object, "message_bytes") == nullptr) throw UsageError(field_path(name, "message_bytes") + " is missing");
  series.message_bytes = static_cast<std::size_t>(whole_number(object, name, "message_bytes", 0, 0, max_message_bytes));
  series.train = whole_number(object, name, "train", 1, 1, max_train);
  series.peers = whole_number(object, name, "peers", 1, 1, max_peers);
  parse_settings(object, name, series);
  parse_links(object, name, series);
  parse_pairs(object, name, series);
  parse_delay(object, name, series);
  parse_operation(object, name, series);

  const Pattern& facts = *series.pattern;
  const std::string pattern(facts.name);
  if (!facts.takes_trains && series.train != 1) {
    throw UsageError(field_path(name, "train") + " of " + pattern + " accepts 1, not " + std::to_string(series.train));
  }
  if (!facts.takes_peers && series.peers != 1) {
    throw UsageError(field_path(name, "peers") + " of " + pattern + " accepts 1, not " + std::to_string(series.peers));
  }
  if (facts.takes_trains && series.train % series.peers != 0) {
    throw UsageError(field_path(name, "train") + " of " + pattern + " accepts multiples of peers, not " +
                     std::to_string(series.train));
  }
  const bool delayed = series.delay_kind != DelayKind::given || series.delay_ns > 0.0;
  if (facts.delay == Delay::needed && !delayed) {
    throw UsageError(field_path(name, "delay_ns") + " of " + pattern + " must be above 0");
  }
  if (facts.delay == Delay::none && delayed)
    throw UsageError(field_path(name, "delay_ns") + " of " + pattern + " accepts 0 only");
  return series;
}

StopRequest parse_stop(const Json& object) {
  const std::string name = "stop";
  if (!object.is_object()) refuse("field 'stop'", "an object", object);
  refuse_unknown(object, name, {"relative_half_width", "min_samples", "max_samples", "budget_ns"});
  StopRequest stop;
  if (const Json* value = find(object, "relative_half_width")) {
    if (!value->is_number() || value->get<double>() < 0.0 || value->get<double>() > 10.0) {
      refuse(field_path(name, "relative_half_width"), "a number from 0 to 10, such as 0.025", *value);
    }
    stop.relative_half_width = value->get<double>();
  }
  stop.min_samples = whole_number(object, name, "min_samples", stop.min_samples, 1, max_samples_limit);
  stop.max_samples =
      whole_number(object, name, "max_samples", std::max(stop.max_samples, stop.min_samples), 1, max_samples_limit);
  stop.budget_ns = whole_number(object, name, "budget_ns", stop.budget_ns, 1, max_budget_ns);
  if (stop.max_samples < stop.min_samples) {
    throw UsageError("field 'stop.max_samples' must not be below stop.min_samples, " +
                     std::to_string(stop.min_samples));
  }
  return stop;
}

MeasureRequest parse_measure(const Json& object, Patterns patterns) {
  refuse_unknown(object, "", {"type", "id", "visit", "tag", "check_payload", "stop", "series"});
  MeasureRequest request;
  request.id = whole_number(object, "", "id", 0, 0, max_id);
  request.visit = whole_number(object, "", "visit", 0, 0, max_id);
  if (const Json* tag = find(object, "tag")) {
    if (!tag->is_object()) refuse("field 'tag'", "an object", *tag);
    request.tag_json = tag->dump(-1, ' ', false, Json::error_handler_t::replace);
  }
  if (const Json* check = find(object, "check_payload")) {
    if (!check->is_boolean()) refuse("field 'check_payload'", "true or false", *check);
    request.check_payload = check->get<bool>();
  }
  if (const Json* stop = find(object, "stop")) request.stop = parse_stop(*stop);
  const Json* series = find(object, "series");
  if (series == nullptr) throw UsageError("field 'series' is missing");
  if (!series->is_array() || series->empty() || series->size() > max_series) {
    refuse("field 'series'", "a list of 1 to " + std::to_string(max_series) + " objects", *series);
  }
  for (std::size_t i = 0; i < series->size(); ++i) {
    request.series.push_back(parse_series((*series)[i], "series[" + std::to_string(i) + "]", patterns));
  }
  return request;
}

// The parser is recursive, so the nesting depth of a line is limited before it is parsed.
void check_nesting(std::string_view line) {
  constexpr int max_depth = 32;
  int depth = 0;
  bool in_string = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (in_string) {
      if (c == '\\') ++i;
      if (c == '"') in_string = false;
    } else if (c == '"') {
      in_string = true;
    } else if (c == '{' || c == '[') {
      if (++depth > max_depth) throw UsageError("a request nests deeper than " + std::to_string(max_depth));
    } else if (c == '}' || c == ']') {
      --depth;
    }
  }
}

}  // namespace

Request parse_request(std::string_view line, Patterns patterns) {
  check_nesting(line);
  const Json object = Json::parse(line, nullptr, false);
  if (!object.is_object()) throw UsageError("a request must be one JSON object on one line");
  const std::string type = word(object, "", "type", "", types);
  if (type.empty()) throw UsageError("field 'type' is missing; it accepts measure or quit");
  Request request;
  if (type == "quit") {
    refuse_unknown(object, "", {"type"});
    request.quit = true;
  } else {
    request.measure = parse_measure(object, patterns);
  }
  return request;
}

SeriesSetup setup_of(const SeriesRequest& series, int ranks) {
  return {.pattern = series.pattern,
          .message_bytes = series.message_bytes,
          .train = series.train,
          .delay_ns = series.delay_ns,
          .batch = series.window * series.pattern->batch_multiple,
          .peers = series.peers,
          .pairs = series.pairs,
          .ranks = ranks,
          .operation = series.operation,
          .posting = series.posting,
          .settings = series.settings,
          .links = series.links};
}

}  // namespace chiplog
