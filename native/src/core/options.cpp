#include "core/options.hpp"

#include <algorithm>
#include <utility>

#include "chiplog/error.hpp"
#include "core/quantity.hpp"

namespace chiplog {
namespace {

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) {
    if (!text.empty()) text += ", ";
    text += word;
  }
  return text.empty() ? "none" : text;
}

}  // namespace

Options::Options(std::string transport, std::vector<Entry> entries)
    : transport_(std::move(transport)), entries_(std::move(entries)) {}

std::string Options::named(std::string_view key) const { return "option '" + std::string(key) + "' of " + transport_; }

std::vector<std::string> Options::repeated(std::string_view key) {
  known_.emplace_back(key);
  std::vector<std::string> values;
  for (Entry& entry : entries_) {
    if (entry.key != key) continue;
    entry.taken = true;
    values.push_back(entry.value);
  }
  return values;
}

std::optional<std::string> Options::take(std::string_view key) {
  const std::vector<std::string> values = repeated(key);
  if (values.empty()) return std::nullopt;
  if (values.size() > 1) throw UsageError(named(key) + " is given more than once");
  return values.front();
}

bool Options::has(std::string_view key) const {
  return std::any_of(entries_.begin(), entries_.end(), [&](const Entry& entry) { return entry.key == key; });
}

std::string Options::text(std::string_view key, std::string_view fallback) {
  const auto value = take(key);
  if (value) refuse_empty(key, *value);
  return value.value_or(std::string(fallback));
}

std::vector<std::string> Options::texts(std::string_view key) {
  std::vector<std::string> values = repeated(key);
  for (const std::string& value : values) refuse_empty(key, value);
  return values;
}

void Options::refuse_empty(std::string_view key, const std::string& value) const {
  if (value.empty()) throw UsageError(named(key) + " needs a value: " + std::string(key) + "=VALUE");
}

std::string Options::choice(std::string_view key, std::string_view fallback,
                            std::initializer_list<std::string_view> accepted) {
  const std::string value = take(key).value_or(std::string(fallback));
  if (std::find(accepted.begin(), accepted.end(), value) == accepted.end()) {
    throw UsageError(named(key) + " accepts " + joined({accepted.begin(), accepted.end()}) + ", not '" + value + "'");
  }
  return value;
}

std::int64_t Options::integer(std::string_view key, std::int64_t fallback, std::int64_t low, std::int64_t high) {
  const auto value = take(key);
  return value ? parse_integer(*value, named(key), low, high) : fallback;
}

double Options::number(std::string_view key, double fallback, double low, double high) {
  const auto value = take(key);
  if (!value) return fallback;
  const double number = parse_number(*value, named(key));
  if (number < low || number > high) {
    throw UsageError(named(key) + " accepts a number from " + std::to_string(low) + " to " + std::to_string(high) +
                     ", not '" + *value + "'");
  }
  return number;
}

double Options::duration_ns(std::string_view key, double fallback_ns) {
  const auto value = take(key);
  return value ? parse_duration_ns(*value, named(key)) : fallback_ns;
}

std::uint64_t Options::bytes(std::string_view key, std::uint64_t fallback) {
  const auto value = take(key);
  return value ? parse_bytes(*value, named(key)) : fallback;
}

double Options::bytes_per_second(std::string_view key, double fallback) {
  const auto value = take(key);
  return value ? parse_bytes_per_second(*value, named(key)) : fallback;
}

bool Options::flag(std::string_view key, bool fallback) {
  const auto value = take(key);
  return value ? parse_integer(*value, named(key), 0, 1) == 1 : fallback;
}

bool Options::word(std::string_view key) {
  const auto value = take(key);
  if (value && !value->empty()) throw UsageError(named(key) + " takes no value, not '" + *value + "'");
  return value.has_value();
}

void Options::refuse_unknown() const {
  for (const Entry& entry : entries_) {
    if (!entry.taken) {
      throw UsageError("unknown option '" + entry.key + "' of " + transport_ + "; it accepts " + joined(known_));
    }
  }
}

Options parse_target(std::string_view target) {
  const std::size_t colon = target.find(':');
  std::string transport(target.substr(0, colon));
  if (transport.empty()) {
    throw UsageError("a target is transport[:key=value,key=value], such as tcp:bind=127.0.0.1, not '" +
                     std::string(target) + "'");
  }
  std::vector<Options::Entry> entries;
  std::string_view rest = colon == std::string_view::npos ? std::string_view{} : target.substr(colon + 1);
  while (!rest.empty()) {
    const std::size_t comma = rest.find(',');
    const std::string_view item = rest.substr(0, comma);
    const std::size_t equals = item.find('=');
    const std::string_view key = item.substr(0, equals);
    if (key.empty()) throw UsageError("an option of " + transport + " is key=value, not '" + std::string(item) + "'");
    const std::string_view value = equals == std::string_view::npos ? std::string_view{} : item.substr(equals + 1);
    entries.push_back({std::string(key), std::string(value)});
    rest = comma == std::string_view::npos ? std::string_view{} : rest.substr(comma + 1);
  }
  return {std::move(transport), std::move(entries)};
}

}  // namespace chiplog
