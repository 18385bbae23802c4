#include "core/pair_groups.hpp"

#include <algorithm>
#include <string_view>

namespace chiplog {
namespace {

struct Level {
  std::string_view name;
  int Cpu::* number;
};
constexpr std::array<Level, 3> levels{
    {{"socket", &Cpu::socket}, {"NUMA node", &Cpu::numa_node}, {"cache of CPU", &Cpu::cache}}};

std::ptrdiff_t index_of(const std::vector<Rank>& ranks, Rank rank) {
  return std::find(ranks.begin(), ranks.end(), rank) - ranks.begin();
}

PairGroups make_groups(std::array<std::string, 2> between, std::vector<Rank> clients, std::vector<Rank> servers) {
  const std::size_t pairs = std::min(clients.size(), servers.size());
  clients.resize(pairs);
  servers.resize(pairs);
  return {std::move(between), std::move(clients), std::move(servers)};
}

std::optional<PairGroups> split_by(const Level& level, const Node& node,
                                   const std::vector<std::optional<Cpu>>& places) {
  const auto part_of = [&](Rank rank) { return (*places[static_cast<std::size_t>(rank)]).*level.number; };
  const auto name_of = [&](int part) { return node.name + " " + std::string(level.name) + " " + std::to_string(part); };
  const int first = part_of(node.ranks.front());
  const auto other =
      std::find_if(node.ranks.begin(), node.ranks.end(), [&](Rank rank) { return part_of(rank) != first; });
  if (other == node.ranks.end()) return std::nullopt;
  const int second = part_of(*other);
  std::vector<Rank> clients;
  std::vector<Rank> servers;
  for (const Rank rank : node.ranks) {
    if (part_of(rank) == first) clients.push_back(rank);
    if (part_of(rank) == second) servers.push_back(rank);
  }
  return make_groups({name_of(first), name_of(second)}, std::move(clients), std::move(servers));
}

PairGroups split(const Node& node, const std::vector<std::optional<Cpu>>& places) {
  const bool bound = std::all_of(node.ranks.begin(), node.ranks.end(),
                                 [&](Rank rank) { return places[static_cast<std::size_t>(rank)].has_value(); });
  for (const Level& level : levels) {
    if (!bound) break;
    if (auto groups = split_by(level, node, places)) return *groups;
  }
  std::vector<Rank> ranks = node.ranks;
  const auto cpu_of = [&](Rank rank) { return places[static_cast<std::size_t>(rank)]->number; };
  if (bound) std::stable_sort(ranks.begin(), ranks.end(), [&](Rank a, Rank b) { return cpu_of(a) < cpu_of(b); });
  const auto half = static_cast<std::ptrdiff_t>(ranks.size() / 2);
  return make_groups({node.name + " first half", node.name + " second half"}, {ranks.begin(), ranks.begin() + half},
                     {ranks.end() - half, ranks.end()});
}

}  // namespace

Role PairGroups::role(Rank rank, std::int64_t pairs) const {
  if (index_of(clients, rank) < pairs) return Role::client;
  return index_of(servers, rank) < pairs ? Role::server : Role::onlooker;
}

Rank PairGroups::partner(Rank rank) const {
  const auto pairs = static_cast<std::ptrdiff_t>(clients.size());
  const std::ptrdiff_t as_client = index_of(clients, rank);
  if (as_client < pairs) return servers[static_cast<std::size_t>(as_client)];
  return clients.at(static_cast<std::size_t>(index_of(servers, rank)));
}

const PairGroups* choose_pair_groups(std::span<const PairGroups> groups,
                                     const std::optional<std::array<std::string, 2>>& between) {
  if (!between) return &groups.front();
  const auto at =
      std::find_if(groups.begin(), groups.end(), [&](const PairGroups& one) { return one.between == *between; });
  return at == groups.end() ? nullptr : &*at;
}

std::vector<PairGroups> find_pair_groups(const std::vector<Node>& nodes,
                                         const std::vector<std::optional<Cpu>>& places) {
  std::vector<PairGroups> found;
  for (std::size_t first = 0; first < nodes.size(); ++first) {
    for (std::size_t second = first + 1; second < nodes.size(); ++second) {
      found.push_back(make_groups({nodes[first].name, nodes[second].name}, nodes[first].ranks, nodes[second].ranks));
    }
  }
  if (found.empty()) found.push_back(split(nodes.front(), places));
  return found;
}

}  // namespace chiplog
