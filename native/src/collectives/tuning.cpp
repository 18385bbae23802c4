#include "collectives/tuning.hpp"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "core/dissemination.hpp"

namespace chiplog::collectives {
namespace {

constexpr const char* algorithm_variable = "CHIPLOG_BARRIER_ALGORITHM";
constexpr const char* peers_variable = "CHIPLOG_BARRIER_N";
constexpr const char* file_variable = "CHIPLOG_TUNING";
constexpr const char* schema = "chiplog.tuning/1";
constexpr int most_peers = 1 << 20;  // more than any communicator has ranks for

struct Entry {
  int ranks = 0;
  Algorithm algorithm = Algorithm::own;
  int peers = 0;
};

// The MPI's own where the library doesn't have the algorithm.
Entry entry_of(const nlohmann::json& choice) {
  const int ranks = choice.at("ranks").get<int>();
  const auto algorithm = choice.at("algorithm").get<std::string>();
  if (algorithm == "linear") return {ranks, Algorithm::linear, 0};
  if (algorithm == "dissemination") return {ranks, Algorithm::dissemination, 1};
  if (algorithm != "n-way-dissemination") return {ranks, Algorithm::own, 0};
  const int peers = choice.at("peers").get<int>();
  if (peers < 1 || peers > most_peers) throw std::runtime_error("\"peers\" must be 1 or more");
  return {ranks, Algorithm::dissemination, peers};
}

Entry read_entry(const std::string& path, int ranks) {
  std::ifstream file(path);
  if (!file) throw std::runtime_error("can't be read");
  const nlohmann::json tuning = nlohmann::json::parse(file);
  if (tuning.at("schema") != schema) throw std::runtime_error(std::string("is no ") + schema);
  if (tuning.at("operation") != "barrier") throw std::runtime_error("is not about barriers");
  std::optional<Entry> best;
  for (const nlohmann::json& choice : tuning.at("choices")) {
    const Entry entry = entry_of(choice);
    const bool fits = entry.ranks <= ranks;
    const bool better = !best || (fits ? best->ranks > ranks || entry.ranks >= best->ranks
                                       : best->ranks > ranks && entry.ranks < best->ranks);
    if (better) best = entry;
  }
  if (!best) throw std::runtime_error("has no choices");
  return *best;
}

std::optional<int> number(std::string_view text) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || value < 0 || value > most_peers) return std::nullopt;
  return value;
}

Choice by_default(int ranks, std::string problem = {}) {
  return {Algorithm::dissemination, default_peers(ranks), "by default", std::move(problem), true};
}

// The variable's value, or null where it isn't set.
const char* set(const char* variable) {
  const char* value = std::getenv(variable);
  return value == nullptr || *value == '\0' ? nullptr : value;
}

Choice by_algorithm(int ranks, std::string_view asked) {
  const std::string why = std::string("from ") + algorithm_variable;
  if (asked == "linear") return {Algorithm::linear, 0, why, {}};
  if (asked == "own") return {Algorithm::own, 0, why, {}};
  if (asked == "fastest") return {Algorithm::fastest, 0, why, {}};
  return by_default(ranks,
                    std::string(algorithm_variable) + "='" + std::string(asked) + "' is none of linear, own, fastest");
}

Choice by_peers(int ranks, const char* asked) {
  const std::optional<int> peers = number(asked);
  if (!peers) {
    return by_default(ranks, std::string(peers_variable) + "='" + asked + "' is no number of peers (0 or more)");
  }
  return {*peers == 0 ? Algorithm::own : Algorithm::dissemination, *peers, std::string("from ") + peers_variable, {}};
}

Choice by_file(int ranks, const char* path) {
  try {
    const Entry entry = read_entry(path, ranks);
    return {entry.algorithm,
            entry.peers,
            std::string("from ") + path + " for " + std::to_string(entry.ranks) + " ranks",
            {}};
  } catch (const std::exception& error) {
    return by_default(ranks, std::string(file_variable) + " " + path + ": " + error.what());
  }
}

}  // namespace

int default_peers(int ranks) {
  constexpr int most = 3;
  int best = 1;
  for (int peers = 2; peers <= most; ++peers) {
    if (dissemination_steps(ranks, peers).size() < dissemination_steps(ranks, best).size()) best = peers;
  }
  return best;
}

Choice choose(int ranks) {
  if (const char* algorithm = set(algorithm_variable)) return by_algorithm(ranks, algorithm);
  if (const char* peers = set(peers_variable)) return by_peers(ranks, peers);
  if (const char* path = set(file_variable)) return by_file(ranks, path);
  return by_default(ranks);
}

std::vector<Choice> candidates(int ranks) {
  constexpr int most_tried = 16;
  const std::string why = "by trial";
  std::vector<Choice> all = {{Algorithm::own, 0, why, {}}, {Algorithm::linear, 0, why, {}}};
  std::size_t fewest_rounds = std::numeric_limits<std::size_t>::max();
  for (int peers = 1; peers < std::min(ranks, most_tried + 1); ++peers) {
    const std::size_t rounds = dissemination_steps(ranks, peers).size();
    if (rounds >= fewest_rounds) continue;
    fewest_rounds = rounds;
    all.push_back({Algorithm::dissemination, peers, why, {}});
  }
  return all;
}

}  // namespace chiplog::collectives
