// The options of a target, `transport:key=value,key=value`, with typed access that explains itself.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace chiplog {

// A transport takes the options that it knows and then calls `refuse_unknown`. A value that is not accepted, an option
// given twice or one that nobody took ends in UsageError.
class Options {
 public:
  struct Entry {
    std::string key;
    std::string value;  // empty for a bare word such as `rma` in `mpi:rma`
    bool taken = false;
  };

  Options() = default;
  Options(std::string transport, std::vector<Entry> entries);

  [[nodiscard]] const std::string& transport() const { return transport_; }

  // A text that is given is never empty.
  std::string text(std::string_view key, std::string_view fallback);
  // Takes one of several words.
  std::string choice(std::string_view key, std::string_view fallback, std::initializer_list<std::string_view> accepted);
  std::int64_t integer(std::string_view key, std::int64_t fallback, std::int64_t low, std::int64_t high);
  double number(std::string_view key, double fallback, double low, double high);
  double duration_ns(std::string_view key, double fallback_ns);
  std::uint64_t bytes(std::string_view key, std::uint64_t fallback);
  double bytes_per_second(std::string_view key, double fallback);
  // Takes 0 or 1.
  bool flag(std::string_view key, bool fallback);
  // Takes a bare word, such as `rma` in `mpi:rma`.
  bool word(std::string_view key);
  // Takes all values of an option that may be given several times, in their order.
  std::vector<std::string> repeated(std::string_view key);
  // As `repeated`, and each is a text.
  std::vector<std::string> texts(std::string_view key);
  [[nodiscard]] bool has(std::string_view key) const;

  // After the last option was taken: throws UsageError naming one that nobody took, and all that were asked for.
  void refuse_unknown() const;

  // The name of an option in messages: "option 'bind' of tcp".
  [[nodiscard]] std::string named(std::string_view key) const;

 private:
  std::optional<std::string> take(std::string_view key);
  void refuse_empty(std::string_view key, const std::string& value) const;

  std::string transport_;
  std::vector<Entry> entries_;
  std::vector<std::string> known_;
};

// Splits a target; UsageError if it is malformed.
Options parse_target(std::string_view target);

}  // namespace chiplog
