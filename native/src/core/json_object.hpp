// Writes a JSON object member by member. The JSON library itself is slow to compile: sources that only write a few
// members use this instead.
#pragma once

#include <concepts>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace chiplog {

class JsonObject {
 public:
  JsonObject& add(std::string_view key, std::string_view text);
  JsonObject& add(std::string_view key, const char* text) { return add(key, std::string_view(text)); }
  JsonObject& add(std::string_view key, double number);  // not finite: null
  JsonObject& add(std::string_view key, bool truth) { return add_json(key, truth ? "true" : "false"); }
  template <std::integral Number>
  JsonObject& add(std::string_view key, Number number) {
    return add_json(key, std::to_string(number));
  }
  // `json` is already a complete JSON value.
  JsonObject& add_json(std::string_view key, std::string_view json);

  [[nodiscard]] std::string text() const { return "{" + members_ + "}"; }

 private:
  std::string members_;
};

// `text` as a JSON string. Bytes that are not UTF-8 are replaced.
std::string json_string(std::string_view text);
// The number as JSON, or null if it is not finite.
std::string json_number(double number);
// Makes an array of complete JSON values.
std::string json_array(std::span<const std::string> values);
// Makes an array of strings.
std::string json_list(std::span<const std::string> texts);

}  // namespace chiplog
