#include "plan.hpp"

#include <algorithm>
#include <functional>
#include <limits>
#include <sstream>

#include "chiplog/error.hpp"
#include "core/long_options.hpp"
#include "core/quantity.hpp"

namespace chiplog::race {
namespace {

constexpr std::int64_t largest = std::numeric_limits<int>::max();
constexpr int first_code = 256;

std::vector<std::string> split(const std::string& text, char at) {
  std::vector<std::string> found;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, at);) found.push_back(part);
  return found;
}

int whole(const std::string& text, const std::string& name, std::int64_t least) {
  return static_cast<int>(parse_integer(text, name, least, largest));
}

Variant parse_variant(const std::string& text, const std::string& name) {
  const std::size_t colon = text.find(':');
  if (colon == std::string::npos) throw UsageError(name + " accepts NAME:cvar=value,..., not '" + text + "'");
  Variant found{text.substr(0, colon), {}, false};
  for (const std::string& one : split(text.substr(colon + 1), ',')) {
    const std::size_t equals = one.find('=');
    if (equals == std::string::npos) throw UsageError(name + " accepts cvar=value, not '" + one + "'");
    found.settings.emplace_back(one.substr(0, equals), whole(one.substr(equals + 1), name, 0));
  }
  return found;
}

std::size_t place_of(const std::vector<Variant>& variants, const std::string& name) {
  const auto found =
      std::find_if(variants.begin(), variants.end(), [&](const Variant& one) { return one.name == name; });
  if (found == variants.end())
    throw UsageError("--cell names the variant '" + name + "' before --variant or --emulation does");
  return static_cast<std::size_t>(found - variants.begin());
}

Cell parse_cell(const std::string& text, const std::string& name, const std::vector<Variant>& variants) {
  const std::vector<std::string> parts = split(text, ':');
  if (parts.size() != 5) {
    throw UsageError(name + " accepts OPERATION:RANKS:BYTES:DATATYPE:NAME,..., not '" + text + "'");
  }
  Cell found{parts[0], whole(parts[1], name, 1), whole(parts[2], name, 0), parts[3], {}};
  for (const std::string& one : split(parts[4], ',')) found.variants.push_back(place_of(variants, one));
  return found;
}

Shape parse_shape(const std::string& text, const std::string& name) {
  const std::vector<std::string> parts = split(text, 'x');
  if (parts.size() != 2) throw UsageError(name + " accepts HOSTSxPROCESSES, such as 8x4, not '" + text + "'");
  return {whole(parts[0], name, 1), whole(parts[1], name, 1)};
}

struct Known {
  std::string name;
  std::function<void(Plan& plan, const std::string& value, const std::string& name)> apply;
};

const std::vector<Known>& known_options() {
  using Text = const std::string&;
  static const std::vector<Known> known{
      {"--variant", [](Plan& plan, Text value, Text name) { plan.variants.push_back(parse_variant(value, name)); }},
      {"--emulation", [](Plan& plan, Text value, Text) { plan.variants.push_back({value, {}, true}); }},
      {"--cell",
       [](Plan& plan, Text value, Text name) { plan.cells.push_back(parse_cell(value, name, plan.variants)); }},
      {"--cvars", [](Plan& plan, Text value, Text) { plan.cvars = value; }},
      {"--shape", [](Plan& plan, Text value, Text name) { plan.shape = parse_shape(value, name); }},
      {"--without", [](Plan& plan, Text value, Text) { plan.without = value; }},
      {"--samples", [](Plan& plan, Text value, Text name) { plan.samples = whole(value, name, 1); }},
      {"--least", [](Plan& plan, Text value, Text name) { plan.least = whole(value, name, 1); }},
      {"--cell-ns", [](Plan& plan, Text value, Text name) { plan.cell_ns = parse_number(value, name); }},
      {"--cutoff", [](Plan& plan, Text value, Text name) { plan.cutoff = parse_number(value, name); }},
      {"--seed", [](Plan& plan, Text value, Text name) { plan.seed = static_cast<unsigned>(whole(value, name, 0)); }},
      {"--check", [](Plan& plan, Text value, Text name) { plan.checks = parse_integer(value, name, 0, 1) == 1; }},
      {"--commutative",
       [](Plan& plan, Text value, Text name) { plan.commutative = parse_integer(value, name, 0, 1) == 1; }},
  };
  return known;
}

}  // namespace

Plan parse_plan(int argc, char** argv) {
  std::vector<option> options;
  std::string hint;
  for (const Known& one : known_options()) {
    options.push_back(
        {one.name.c_str() + 2, required_argument, nullptr, first_code + static_cast<int>(options.size())});
    hint += (hint.empty() ? "; it accepts " : ", ") + one.name;
  }
  options.push_back({});
  Plan plan;
  parse_long_options(argc, argv, options.data(), hint, [&](int code, const std::string& value) {
    const Known& one = known_options()[static_cast<std::size_t>(code - first_code)];
    one.apply(plan, value, one.name);
  });
  return plan;
}

}  // namespace chiplog::race
