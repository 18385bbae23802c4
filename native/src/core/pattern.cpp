#include "core/pattern.hpp"

#include "chiplog/error.hpp"

namespace chiplog {
namespace usual {

bool any_operation(Operation /*operation*/) { return true; }

std::int64_t no_busy_waits(const SeriesSetup& /*setup*/) { return 0; }

std::int64_t no_posts(const SeriesSetup& /*setup*/) { return 0; }

Position position(const SeriesSetup& setup, Rank rank) {
  if (rank == 0) return {Role::client, 1};
  return {rank <= setup.peers ? Role::server : Role::onlooker, 0};
}

std::vector<Link> links(const SeriesSetup& setup) {
  std::vector<Link> links;
  for (Rank peer = 1; peer <= setup.peers; ++peer) links.push_back({0, peer});
  return links;
}

WireCount passive_wire_count(const SeriesSetup& setup) {
  const std::int64_t posted = setup.batch * setup.train;
  return {2 * posted + setup.peers, posted * static_cast<std::int64_t>(setup.message_bytes)};
}

std::optional<SettingRefusal> nothing_to_refuse(const SeriesSetup& /*setup*/) { return std::nullopt; }

}  // namespace usual

const Pattern* find_pattern(Patterns patterns, std::string_view name) {
  for (const Pattern* pattern : patterns) {
    if (pattern->name == name) return pattern;
  }
  return nullptr;
}

const Pattern& get_pattern(Patterns patterns, std::string_view name) {
  const Pattern* pattern = find_pattern(patterns, name);
  if (pattern == nullptr) throw Error(ExitCode::run_failed, "this probe lacks the pattern " + std::string(name));
  return *pattern;
}

std::string pattern_names(Patterns patterns) {
  std::string names;
  for (const Pattern* pattern : patterns) {
    if (find_pattern(patterns, pattern->name) == pattern)
      names += (names.empty() ? "" : ", ") + std::string(pattern->name);
  }
  return names;
}

}  // namespace chiplog
