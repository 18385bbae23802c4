// Option values that hold assignments of their own: key=value:key=value.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace chiplog::sim {

struct Assignment {
  std::string_view key;
  std::string_view value;
};

// Throws UsageError, which says that `what` accepts `form`, where a part is no assignment. The views point into `text`.
std::vector<Assignment> parse_assignments(std::string_view text, const std::string& what, std::string_view form);

// Assignments in which each of a few keys must be there once.
class Assignments {
 public:
  Assignments(std::string_view text, std::string what, std::string_view form);

  double duration_ns(std::string_view key);
  // Takes a number, which must be above `bound`.
  double number_above(double bound, std::string_view key);
  // Throws UsageError if there is a key that nobody took; to be called after the last was.
  void refuse_others() const;

 private:
  std::string_view take(std::string_view key);
  [[nodiscard]] std::string named(std::string_view key) const { return what_ + ", key " + std::string(key) + ","; }
  [[noreturn]] void refuse() const;

  std::string_view text_;
  std::string what_;
  std::string_view form_;
  std::vector<Assignment> left_;
};

}  // namespace chiplog::sim
