#include "simulated_run.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "core/record_sink.hpp"
#include "core/request_source.hpp"
#include "core/session.hpp"
#include "transports/registry.hpp"

namespace chiplog::testing {
namespace {

// A file without a name, gone when it is closed.
class ScratchFile {
 public:
  ScratchFile() : file_(std::tmpfile()) {}
  ~ScratchFile() { std::fclose(file_); }
  ScratchFile(const ScratchFile&) = delete;
  ScratchFile& operator=(const ScratchFile&) = delete;

  [[nodiscard]] int descriptor() const { return fileno(file_); }
  void write(const std::string& text) {
    std::fwrite(text.data(), 1, text.size(), file_);
    std::fflush(file_);
    std::rewind(file_);
  }
  std::string read() {
    std::rewind(file_);
    std::string text;
    for (int c = std::fgetc(file_); c != EOF; c = std::fgetc(file_)) text += static_cast<char>(c);
    return text;
  }

 private:
  std::FILE* file_;
};

}  // namespace

std::vector<Json> SimulatedRun::of_type(const std::string& type) const {
  std::vector<Json> found;
  for (const Json& line : lines) {
    if (line.at("type") == type) found.push_back(line);
  }
  return found;
}

SimulatedRun run_simulated(const std::string& target, const std::string& requests, RunSettings settings) {
  settings.target = target;
  ScratchFile requests_file;
  ScratchFile records_file;
  requests_file.write(requests);
  RequestSource source(requests_file.descriptor());
  RecordSink sink(records_file.descriptor());
  Options options = parse_target(target);
  const TransportEntry& transport = find_transport(options.transport());
  SimulatedRun run;
  std::get<OneProcessForAll>(transport.ranks)
      .run_ranks(options, settings, [&](Bootstrap& bootstrap, Endpoint& endpoint) {
        if (bootstrap.rank() == 0) {
          run.exit_code = lead_session(endpoint, bootstrap, settings, {}, source, sink);
        } else {
          follow_session(endpoint, bootstrap, settings, {});
        }
      });
  run.text = records_file.read();
  std::istringstream lines(run.text);
  for (std::string line; std::getline(lines, line);) run.lines.push_back(Json::parse(line));
  return run;
}

std::string request_for(const std::string& series, int samples) {
  const std::string count = std::to_string(samples);
  return R"({"type":"measure","stop":{"min_samples":)" + count + R"(,"max_samples":)" + count +
         R"(,"budget_ns":600000000000},"series":[)" + series + "]}\n";
}

double median_ns(const Json& series) {
  std::vector<double> samples_ns = series.at("samples_ns").get<std::vector<double>>();
  samples_ns.erase(samples_ns.begin(), samples_ns.begin() + series.at("warmup").get<std::ptrdiff_t>());
  const auto middle = samples_ns.begin() + static_cast<std::ptrdiff_t>(samples_ns.size() / 2);
  std::nth_element(samples_ns.begin(), middle, samples_ns.end());
  return *middle / series.at("batch").get<double>();
}

double measure_ns(const std::string& target, const std::string& series, int samples) {
  const SimulatedRun run = run_simulated(target, request_for(series, samples));
  return median_ns(run.of_type("record").at(0).at("series").at(0));
}

}  // namespace chiplog::testing
