#include "collectives/tuning.hpp"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "core/small_file.hpp"

namespace chiplog::collectives {
namespace {

constexpr const char* algorithm_variable = "CHIPLOG_BARRIER_ALGORITHM";
constexpr const char* peers_variable = "CHIPLOG_BARRIER_N";
constexpr const char* file_variable = "CHIPLOG_TUNING";
constexpr const char* schema = "chiplog.tuning/1";
constexpr int most_peers = 1 << 20;  // more than any communicator has ranks for

constexpr std::size_t most_file_bytes = 16UL << 20U;

constexpr int own_code = -1;
constexpr int trial_code = -2;
constexpr std::string_view default_name = "n-way-dissemination";
static_assert(std::any_of(barrier_algorithms.begin(), barrier_algorithms.end(),
                          [](const BarrierAlgorithm& one) { return one.name == default_name; }));

struct Entry {
  int ranks = 0;
  const BarrierAlgorithm* algorithm = nullptr;
  int peers = 0;
};

// The MPI's own where the library doesn't have the algorithm.
Entry entry_of(const nlohmann::json& choice) {
  const int ranks = choice.at("ranks").get<int>();
  const BarrierAlgorithm* algorithm = find_barrier(choice.at("algorithm").get<std::string>());
  if (algorithm == nullptr || !algorithm->takes_peers()) return {ranks, algorithm, 0};
  const int peers = choice.at("peers").get<int>();
  if (peers < 1 || peers > most_peers) throw std::runtime_error("\"peers\" must be 1 or more");
  return {ranks, algorithm, peers};
}

Entry read_entry(const std::string& path, int ranks) {
  const nlohmann::json tuning = nlohmann::json::parse(read_small_file(path, most_file_bytes));
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

Choice chosen(const BarrierAlgorithm* algorithm, int peers, std::string why) {
  return {algorithm, peers, false, std::move(why), {}, false};
}

Choice by_default(int ranks, std::string problem = {}) {
  return {find_barrier(default_name), default_peers(ranks), false, "by default", std::move(problem), true};
}

// The variable's value, or null where it isn't set.
const char* set(const char* variable) {
  const char* value = std::getenv(variable);
  return value == nullptr || *value == '\0' ? nullptr : value;
}

// What CHIPLOG_BARRIER_ALGORITHM accepts.
std::string known_algorithms() {
  std::string known = "own, fastest";
  for (const BarrierAlgorithm& one : barrier_algorithms) {
    known += ", " + std::string(one.name);
    if (one.takes_peers()) known += ":" + std::string(one.symbol);
  }
  return known;
}

// NAME, or NAME:PEERS of an algorithm that takes them.
Choice by_algorithm(int ranks, std::string_view asked) {
  const std::string why = std::string("from ") + algorithm_variable;
  if (asked == "own") return chosen(nullptr, 0, why);
  if (asked == "fastest") return {nullptr, 0, true, why, {}, false};
  const std::size_t colon = asked.find(':');
  const BarrierAlgorithm* algorithm = find_barrier(asked.substr(0, colon));
  const bool has_peers = colon != std::string_view::npos;
  const std::optional<int> peers = has_peers ? number(asked.substr(colon + 1)) : 0;
  if (algorithm != nullptr && peers && algorithm->takes_peers() == has_peers && (!has_peers || *peers > 0)) {
    return chosen(algorithm, *peers, why);
  }
  return by_default(ranks,
                    std::string(algorithm_variable) + "='" + std::string(asked) + "' is none of " + known_algorithms());
}

Choice by_peers(int ranks, const char* asked) {
  const std::optional<int> peers = number(asked);
  if (!peers) {
    return by_default(ranks, std::string(peers_variable) + "='" + asked + "' is no number of peers (0 or more)");
  }
  return chosen(*peers == 0 ? nullptr : find_barrier(default_name), *peers, std::string("from ") + peers_variable);
}

Choice by_file(int ranks, const char* path) {
  try {
    const Entry entry = read_entry(path, ranks);
    return chosen(entry.algorithm, entry.peers,
                  std::string("from ") + path + " for " + std::to_string(entry.ranks) + " ranks");
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
  const std::string why = "by trial";
  std::vector<Choice> all = {chosen(nullptr, 0, why)};
  for (const BarrierAlgorithm& one : barrier_algorithms) {
    if (one.trials == nullptr) continue;
    for (const int peers : one.trials(ranks)) all.push_back(chosen(&one, peers, why));
  }
  return all;
}

int code_of(const Choice& choice) {
  if (choice.by_trial) return trial_code;
  return choice.algorithm == nullptr ? own_code : static_cast<int>(choice.algorithm - barrier_algorithms.data());
}

void set_code(Choice& choice, int code) {
  choice.by_trial = code == trial_code;
  choice.algorithm = code < 0 ? nullptr : &barrier_algorithms[static_cast<std::size_t>(code)];
}

}  // namespace chiplog::collectives
