#include "options.hpp"

#include <array>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "core/long_options.hpp"
#include "core/quantity.hpp"

namespace chiplog::bench {
namespace {

constexpr std::int64_t largest = std::numeric_limits<int>::max();
constexpr int first_code = 256;

// An option and what it does with its value; messages call it by `name`, which begins with the dashes.
struct Known {
  std::string name;
  std::function<void(Options& options, const std::string& value, const std::string& name)> apply;
};

auto whole(int Options::* member, std::int64_t least) {
  return [=](Options& options, const std::string& value, const std::string& name) {
    options.*member = static_cast<int>(parse_integer(value, name, least, largest));
  };
}

double at_least_0(const std::string& value, const std::string& name) {
  const double number = parse_number(value, name);
  if (number < 0) throw UsageError(name + " accepts 0 or more, not '" + value + "'");
  return number;
}

const std::vector<Known>& known_options() {
  static const std::vector<Known> known{
      {"--operation",
       [](Options& options, const std::string& value, const std::string&) { options.operation = value; }},
      {"--type", [](Options& options, const std::string& value, const std::string&) { options.type = value; }},
      {"--bytes", whole(&Options::bytes, 0)},
      {"--samples", whole(&Options::samples, 1)},
      {"--block", whole(&Options::block, 1)},
      {"--calls", whole(&Options::calls, 1)},
      {"--budget-ns", [](Options& options, const std::string& value,
                         const std::string& name) { options.budget_ns = at_least_0(value, name); }},
      {"--seed",
       [](Options& options, const std::string& value, const std::string& name) {
         options.seed = static_cast<unsigned>(parse_integer(value, name, 0, std::numeric_limits<unsigned>::max()));
       }},
      {"--compare", [](Options& options, const std::string& value,
                       const std::string& name) { options.compare = parse_integer(value, name, 0, 1) == 1; }},
      {"--lead-ns", [](Options& options, const std::string& value,
                       const std::string& name) { options.lead_ns = at_least_0(value, name); }},
      {"--sync-points",
       [](Options& options, const std::string& value, const std::string& name) {
         options.sync.points = static_cast<int>(parse_integer(value, name, 1, largest));
       }},
      {"--sync-span-ns", [](Options& options, const std::string& value,
                            const std::string& name) { options.sync.span_ns = at_least_0(value, name); }},
  };
  return known;
}

}  // namespace

Options parse_options(int argc, char** argv) {
  std::vector<option> long_options;
  std::string hint;
  for (const Known& one : known_options()) {
    const int code = first_code + static_cast<int>(long_options.size());
    long_options.push_back({one.name.c_str() + 2, required_argument, nullptr, code});
    hint += (hint.empty() ? "; it accepts " : ", ") + one.name;
  }
  long_options.push_back({});
  Options options;
  parse_long_options(argc, argv, long_options.data(), hint, [&](int code, const std::string& value) {
    const Known& one = known_options()[static_cast<std::size_t>(code - first_code)];
    one.apply(options, value, one.name);
  });
  return options;
}

}  // namespace chiplog::bench
