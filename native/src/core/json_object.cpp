#include "core/json_object.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>
#include <vector>

namespace chiplog {

JsonObject& JsonObject::add(std::string_view key, std::string_view text) { return add_json(key, json_string(text)); }

JsonObject& JsonObject::add(std::string_view key, double number) { return add_json(key, json_number(number)); }

JsonObject& JsonObject::add_json(std::string_view key, std::string_view json) {
  if (!members_.empty()) members_ += ',';
  members_ += json_string(key);
  members_ += ':';
  members_ += json;
  return *this;
}

std::string json_string(std::string_view text) {
  return nlohmann::json(text).dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
}

std::string json_number(double number) {
  if (!std::isfinite(number)) return "null";
  std::array<char, 32> digits{};
  const auto [end, error] = std::to_chars(digits.data(), digits.data() + digits.size(), number);
  std::string text(digits.data(), end);
  // A floating-point number keeps its decimal point even if it is whole.
  if (text.find_first_not_of("-0123456789") == std::string::npos) text += ".0";
  return text;
}

std::string json_array(std::span<const std::string> values) {
  std::string list;
  for (const std::string& value : values) list += (list.empty() ? "" : ",") + value;
  return "[" + list + "]";
}

std::string json_list(std::span<const std::string> texts) {
  std::vector<std::string> values;
  for (const std::string& text : texts) values.push_back(json_string(text));
  return json_array(values);
}

}  // namespace chiplog
