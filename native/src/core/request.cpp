#include "core/request.hpp"

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <nlohmann/json.hpp>

#include "chiplog/error.hpp"

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

std::string path_of(const std::string& object, std::string_view field) {
  return "field '" + (object.empty() ? "" : object + ".") + std::string(field) + "'";
}

[[noreturn]] void refuse(const std::string& field, const std::string& accepts, const Json& value) {
  std::string text = value.dump(-1, ' ', false, Json::error_handler_t::replace);
  if (text.size() > 60) text = text.substr(0, 57) + "...";
  throw UsageError(field + " accepts " + accepts + ", not " + text);
}

void refuse_unknown(const Json& object, const std::string& name, std::initializer_list<std::string_view> known) {
  for (const auto& [field, value] : object.items()) {
    if (std::find(known.begin(), known.end(), field) != known.end()) continue;
    std::string accepted;
    for (const std::string_view word : known) accepted += (accepted.empty() ? "" : ", ") + std::string(word);
    throw UsageError("unknown " + path_of(name, field.substr(0, 60)) + "; there are " + accepted);
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
  if (!value->is_number_integer()) refuse(path_of(name, field), accepts, *value);
  if (value->is_number_unsigned() && value->get<std::uint64_t>() > static_cast<std::uint64_t>(high)) {
    refuse(path_of(name, field), accepts, *value);
  }
  const auto number = value->get<std::int64_t>();
  if (number < low || number > high) refuse(path_of(name, field), accepts, *value);
  return number;
}

std::string word(const Json& object, const std::string& name, std::string_view field, std::string_view fallback,
                 std::initializer_list<std::string_view> accepted) {
  const Json* value = find(object, field);
  if (value == nullptr) return std::string(fallback);
  if (value->is_string()) {
    const auto& text = value->get_ref<const std::string&>();
    if (std::find(accepted.begin(), accepted.end(), text) != accepted.end()) return text;
  }
  std::string accepts;
  for (const std::string_view choice : accepted) accepts += (accepts.empty() ? "" : " or ") + std::string(choice);
  refuse(path_of(name, field), accepts, *value);
}

Pattern parse_pattern(const Json& object, const std::string& name) {
  const Json* value = find(object, "pattern");
  std::string names;
  for (const PatternFacts& facts : patterns_by_name()) {
    if (find_pattern(facts.name) == &facts) names += (names.empty() ? "" : ", ") + std::string(facts.name);
  }
  if (value == nullptr) throw UsageError(path_of(name, "pattern") + " is missing; it accepts " + names);
  const PatternFacts* facts = value->is_string() ? find_pattern(value->get_ref<const std::string&>()) : nullptr;
  if (facts == nullptr) refuse(path_of(name, "pattern"), names, *value);
  return facts->pattern;
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
    refuse(path_of(name, "delay_ns"), "nanoseconds from 0 to 1e10, \"rtt\" or \"rtt2\"", *value);
  }
}

// Which of the conventions of k pairs, and between which groups.
void parse_pairs(const Json& object, const std::string& name, SeriesRequest& series) {
  if (!is_pairs(series.pattern)) {
    for (const std::string_view field : {"pairs", "direction", "window", "between"}) {
      const Json* value = find(object, field);
      const bool plain = value == nullptr || value->is_null() || *value == 1;
      if (!plain)
        refuse(path_of(name, field) + " of " + std::string(facts_of(series.pattern).name), "1 or null", *value);
    }
    return;
  }
  series.pairs = whole_number(object, name, "pairs", 1, 1, max_peers);
  const Json* direction = find(object, "direction");
  const bool one_way = direction != nullptr && !direction->is_null() &&
                       word(object, name, "direction", "", {"round-trip", "one-way"}) == "one-way";
  if (one_way) series.pattern = Pattern::pairs_one_way;
  series.window = whole_number(object, name, "window", 1, 1, one_way ? max_train : 1);
  const Json* between = find(object, "between");
  if (between == nullptr || between->is_null()) return;
  const bool two =
      between->is_array() && between->size() == 2 && (*between)[0].is_string() && (*between)[1].is_string();
  if (!two) refuse(path_of(name, "between"), "the names of two groups", *between);
  series.between = {(*between)[0].get<std::string>(), (*between)[1].get<std::string>()};
}

void take_list_posting(const std::string& name, SeriesRequest& series) {
  const Pattern as_list = posted_as_list(series.pattern);
  const std::string pattern(facts_of(series.pattern).name);
  if (as_list == series.pattern) throw UsageError(path_of(name, "posting") + " of " + pattern + " accepts normal");
  series.pattern = as_list;
  if (as_list == Pattern::send_overhead_list && series.train != series.peers) {
    throw UsageError(path_of(name, "train") + " of " + pattern + " posted as a list accepts the number of peers, " +
                     std::to_string(series.peers) + ", not " + std::to_string(series.train));
  }
}

SeriesRequest parse_series(const Json& object, const std::string& name) {
  if (!object.is_object()) refuse("field '" + name + "'", "an object", object);
  refuse_unknown(object, name,
                 {"pattern", "message_bytes", "train", "peers", "pairs", "direction", "window", "between", "delay_ns",
                  "operation", "posting"});
  SeriesRequest series;
  series.pattern = parse_pattern(object, name);
  if (find(object, "message_bytes") == nullptr) throw UsageError(path_of(name, "message_bytes") + " is missing");
  series.message_bytes = static_cast<std::size_t>(whole_number(object, name, "message_bytes", 0, 0, max_message_bytes));
  series.train = whole_number(object, name, "train", 1, 1, max_train);
  series.peers = whole_number(object, name, "peers", 1, 1, max_peers);
  parse_pairs(object, name, series);
  parse_delay(object, name, series);
  series.operation = word(object, name, "operation", "send", {"send"});
  series.posting = word(object, name, "posting", "normal", {"normal", "list"});
  if (series.posting == "list") take_list_posting(name, series);

  const PatternFacts& facts = facts_of(series.pattern);
  const std::string pattern(facts.name);
  if (!facts.takes_trains && series.train != 1) {
    throw UsageError(path_of(name, "train") + " of " + pattern + " accepts 1, not " + std::to_string(series.train));
  }
  if (!facts.takes_peers && series.peers != 1) {
    throw UsageError(path_of(name, "peers") + " of " + pattern + " accepts 1, not " + std::to_string(series.peers));
  }
  if (facts.takes_trains && series.train % series.peers != 0) {
    throw UsageError(path_of(name, "train") + " of " + pattern + " accepts multiples of peers, not " +
                     std::to_string(series.train));
  }
  const bool delayed = series.delay_kind != DelayKind::given || series.delay_ns > 0.0;
  if (facts.needs_delay && !delayed) {
    throw UsageError(path_of(name, "delay_ns") + " of " + pattern + " must be above 0");
  }
  const bool ignores_delay = facts.posts_sends || series.pattern == Pattern::flood || is_pairs(series.pattern);
  if (ignores_delay && delayed) throw UsageError(path_of(name, "delay_ns") + " of " + pattern + " accepts 0 only");
  return series;
}

StopRequest parse_stop(const Json& object) {
  const std::string name = "stop";
  if (!object.is_object()) refuse("field 'stop'", "an object", object);
  refuse_unknown(object, name, {"relative_half_width", "min_samples", "max_samples", "budget_ns"});
  StopRequest stop;
  if (const Json* value = find(object, "relative_half_width")) {
    if (!value->is_number() || value->get<double>() < 0.0 || value->get<double>() > 10.0) {
      refuse(path_of(name, "relative_half_width"), "a number from 0 to 10, such as 0.025", *value);
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

MeasureRequest parse_measure(const Json& object) {
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
    request.series.push_back(parse_series((*series)[i], "series[" + std::to_string(i) + "]"));
  }
  return request;
}

void check_pairs(const RequestLimits& limits, const SeriesRequest& series, const std::string& name) {
  const PairGroups* groups = choose_pair_groups(limits.pair_groups, series.between);
  if (groups == nullptr) {
    std::string names;
    for (const PairGroups& one : limits.pair_groups) {
      names += (names.empty() ? "" : "; ") + one.between[0] + ", " + one.between[1];
    }
    throw UsageError(path_of(name, "between") + " accepts " + names + ", not " + (*series.between)[0] + ", " +
                     (*series.between)[1]);
  }
  if (series.pairs > static_cast<std::int64_t>(groups->clients.size())) {
    throw UsageError(path_of(name, "pairs") + " accepts at most " + std::to_string(groups->clients.size()) +
                     " between " + groups->between[0] + " and " + groups->between[1] + ", not " +
                     std::to_string(series.pairs));
  }
}

// The parser recurses, so how deep a line nests is bounded before it sees the line.
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

Request parse_request(std::string_view line) {
  check_nesting(line);
  const Json object = Json::parse(line, nullptr, false);
  if (!object.is_object()) throw UsageError("a request must be one JSON object on one line");
  const std::string type = word(object, "", "type", "", {"measure", "quit"});
  if (type.empty()) throw UsageError("field 'type' is missing; it accepts measure or quit");
  Request request;
  if (type == "quit") {
    refuse_unknown(object, "", {"type"});
    request.quit = true;
  } else {
    request.measure = parse_measure(object);
  }
  return request;
}

void check_against(const RequestLimits& limits, const MeasureRequest& request) {
  for (std::size_t i = 0; i < request.series.size(); ++i) {
    const SeriesRequest& series = request.series[i];
    const PatternFacts& facts = facts_of(series.pattern);
    const std::string name = "series[" + std::to_string(i) + "]";
    if (series.message_bytes > limits.capabilities.max_message_bytes) {
      throw UsageError(path_of(name, "message_bytes") + " accepts at most " +
                       std::to_string(limits.capabilities.max_message_bytes) + " on " + limits.transport + ", not " +
                       std::to_string(series.message_bytes));
    }
    if (series.peers >= limits.ranks) {
      throw UsageError(path_of(name, "peers") + " accepts at most " + std::to_string(limits.ranks - 1) + " with " +
                       std::to_string(limits.ranks) + " ranks, not " + std::to_string(series.peers));
    }
    if (is_pairs(series.pattern)) check_pairs(limits, series, name);
    const std::int64_t posted = std::max({series.train, series.peers, series.window});
    if (facts.posts_sends && static_cast<std::size_t>(posted) > limits.max_posted_sends) {
      throw UsageError(path_of(name, "train") + " of " + std::string(facts.name) + " accepts at most " +
                       std::to_string(limits.max_posted_sends) + " on " + limits.transport + ", not " +
                       std::to_string(posted));
    }
    if (series.posting == "list" && !limits.capabilities.list_posting) {
      throw UsageError(path_of(name, "posting") + " accepts normal on " + limits.transport + ", which posts no lists");
    }
    if (facts.needs_synchronising_transport && !limits.capabilities.synchronises) {
      throw UsageError(path_of(name, "pattern") + " " + std::string(facts.name) +
                       ": sends never wait for receives on " + limits.transport);
    }
    const double longest_ns = 0.5 * static_cast<double>(limits.time_limit.count());
    if (static_cast<double>(series.train + 1) * series.delay_ns > longest_ns) {
      throw UsageError(path_of(name, "delay_ns") + " times train must stay below half of the time limit, " +
                       std::to_string(static_cast<std::int64_t>(longest_ns)) + " ns");
    }
  }
}

}  // namespace chiplog
