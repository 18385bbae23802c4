// How a refusal names the field that it is about.
#pragma once

#include <string>
#include <string_view>

namespace chiplog {

// `object` is "" at the top of a request, else such as series[2].
[[nodiscard]] inline std::string field_path(const std::string& object, std::string_view field) {
  return "field '" + (object.empty() ? "" : object + ".") + std::string(field) + "'";
}

}  // namespace chiplog
