#include "options.hpp"

#include <functional>
#include <map>
#include <stdexcept>

namespace chiplog::bench {

Options parse_options(int argc, char** argv) {
  Options options;
  const std::map<std::string, std::function<void(const std::string&)>> known{
      {"--operation", [&](const std::string& value) { options.operation = value; }},
      {"--bytes", [&](const std::string& value) { options.bytes = std::stoi(value); }},
      {"--samples", [&](const std::string& value) { options.samples = std::stoi(value); }},
      {"--block", [&](const std::string& value) { options.block = std::stoi(value); }},
      {"--calls", [&](const std::string& value) { options.calls = std::stoi(value); }},
      {"--budget-ns", [&](const std::string& value) { options.budget_ns = std::stod(value); }},
      {"--seed", [&](const std::string& value) { options.seed = static_cast<unsigned>(std::stoul(value)); }},
      {"--compare", [&](const std::string& value) { options.compare = value == "1"; }},
      {"--lead-ns", [&](const std::string& value) { options.lead_ns = std::stod(value); }},
      {"--sync-points", [&](const std::string& value) { options.sync.points = std::stoi(value); }},
      {"--sync-span-ns", [&](const std::string& value) { options.sync.span_ns = std::stod(value); }},
  };
  for (int i = 1; i + 1 < argc; i += 2) {
    const auto found = known.find(argv[i]);
    if (found == known.end()) throw std::invalid_argument(argv[i]);
    found->second(argv[i + 1]);
  }
  return options;
}

}  // namespace chiplog::bench
