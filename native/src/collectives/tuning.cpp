#include "collectives/tuning.hpp"

#include <charconv>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "core/dissemination.hpp"

namespace chiplog::collectives {
namespace {

constexpr const char* peers_variable = "CHIPLOG_BARRIER_N";
constexpr const char* file_variable = "CHIPLOG_TUNING";
constexpr const char* schema = "chiplog.tuning/1";
constexpr int most_peers = 1 << 20;  // more than any communicator has ranks for

struct Entry {
  int ranks = 0;
  int peers = 0;
};

// n, or 0 where the library doesn't have the algorithm.
int peers_of(const nlohmann::json& choice) {
  const auto algorithm = choice.at("algorithm").get<std::string>();
  if (algorithm == "dissemination") return 1;
  if (algorithm != "n-way-dissemination") return 0;
  const int peers = choice.at("peers").get<int>();
  if (peers < 1 || peers > most_peers) throw std::runtime_error("\"peers\" must be 1 or more");
  return peers;
}

Entry read_entry(const std::string& path, int ranks) {
  std::ifstream file(path);
  if (!file) throw std::runtime_error("can't be read");
  const nlohmann::json tuning = nlohmann::json::parse(file);
  if (tuning.at("schema") != schema) throw std::runtime_error(std::string("is no ") + schema);
  if (tuning.at("operation") != "barrier") throw std::runtime_error("is not about barriers");
  std::optional<Entry> best;
  for (const nlohmann::json& choice : tuning.at("choices")) {
    const Entry entry{choice.at("ranks").get<int>(), peers_of(choice)};
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

PeerChoice by_default(int ranks, std::string problem = {}) {
  return {default_peers(ranks), "by default", std::move(problem)};
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

PeerChoice choose_peers(int ranks) {
  if (const char* asked = std::getenv(peers_variable); asked != nullptr && *asked != '\0') {
    if (const std::optional<int> peers = number(asked)) return {*peers, std::string("from ") + peers_variable, {}};
    return by_default(ranks, std::string(peers_variable) + "='" + asked + "' is no number of peers (0 or more)");
  }
  const char* path = std::getenv(file_variable);
  if (path == nullptr || *path == '\0') return by_default(ranks);
  try {
    const Entry entry = read_entry(path, ranks);
    return {entry.peers, std::string("from ") + path + " for " + std::to_string(entry.ranks) + " ranks", {}};
  } catch (const std::exception& error) {
    return by_default(ranks, std::string(file_variable) + " " + path + ": " + error.what());
  }
}

}  // namespace chiplog::collectives
