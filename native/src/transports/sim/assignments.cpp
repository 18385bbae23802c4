#include "transports/sim/assignments.hpp"

#include <algorithm>
#include <utility>

#include "chiplog/error.hpp"
#include "core/quantity.hpp"

namespace chiplog::sim {

std::vector<Assignment> parse_assignments(std::string_view text, const std::string& what, std::string_view form) {
  std::vector<Assignment> assignments;
  while (!text.empty()) {
    const std::size_t colon = text.find(':');
    const std::string_view item = text.substr(0, colon);
    const std::size_t equals = item.find('=');
    if (equals == std::string_view::npos) {
      throw UsageError(what + " accepts " + std::string(form) + ", not '" + std::string(item) + "'");
    }
    assignments.push_back({item.substr(0, equals), item.substr(equals + 1)});
    text = colon == std::string_view::npos ? std::string_view{} : text.substr(colon + 1);
  }
  return assignments;
}

Assignments::Assignments(std::string_view text, std::string what, std::string_view form)
    : text_(text), what_(std::move(what)), form_(form), left_(parse_assignments(text, what_, form)) {}

void Assignments::refuse() const {
  throw UsageError(what_ + " accepts " + std::string(form_) + ", not '" + std::string(text_) + "'");
}

std::string_view Assignments::take(std::string_view key) {
  const auto found = std::find_if(left_.begin(), left_.end(), [&](const Assignment& one) { return one.key == key; });
  if (found == left_.end()) refuse();
  const std::string_view value = found->value;
  left_.erase(found);
  return value;
}

double Assignments::duration_ns(std::string_view key) { return parse_duration_ns(take(key), named(key)); }

double Assignments::number_above(double bound, std::string_view key) {
  const std::string_view value = take(key);
  const double number = parse_number(value, named(key));
  if (number <= bound) throw UsageError(named(key) + " accepts numbers above " + std::to_string(bound));
  return number;
}

void Assignments::refuse_others() const {
  if (!left_.empty()) refuse();
}

}  // namespace chiplog::sim
