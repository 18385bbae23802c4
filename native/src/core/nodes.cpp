#include "core/nodes.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <map>

#include "core/machine.hpp"

namespace chiplog {
namespace {

std::string network_namespace() {
  struct stat status{};
  if (stat("/proc/self/ns/net", &status) != 0) return {};
  return std::to_string(status.st_dev) + ":" + std::to_string(status.st_ino);
}

void tell_apart(std::vector<Node>& nodes) {
  std::map<std::string, int> count;
  for (const Node& node : nodes) ++count[node.name];
  std::map<std::string, int> seen;
  for (Node& node : nodes) {
    const std::string name = node.name;
    if (count[name] > 1) node.name += "#" + std::to_string(++seen[name]);
  }
}

}  // namespace

// Containers share a kernel and thus its boot id; clones of a virtual machine may share their name or boot id. Hosts
// that differ in any of the three are different nodes.
Bootstrap::Node Bootstrap::node() {
  const std::string name = host_name();
  return {name, name + '\n' + boot_id() + '\n' + network_namespace()};
}

std::vector<Node> find_nodes(Bootstrap& bootstrap) {
  const Bootstrap::Node own = bootstrap.node();
  const std::vector<std::string> names = bootstrap.all_gather(own.name);
  const std::vector<std::string> identities = bootstrap.all_gather(own.identity);
  std::vector<Node> nodes;
  std::map<std::string, std::size_t> index;
  for (std::size_t rank = 0; rank < names.size(); ++rank) {
    const auto [at, is_new] = index.try_emplace(identities[rank], nodes.size());
    if (is_new) nodes.push_back({names[rank], {}});
    nodes[at->second].ranks.push_back(static_cast<Rank>(rank));
  }
  tell_apart(nodes);
  return nodes;
}

std::size_t node_of(const std::vector<Node>& nodes, Rank rank) {
  const auto at = std::find_if(nodes.begin(), nodes.end(), [rank](const Node& node) {
    return std::find(node.ranks.begin(), node.ranks.end(), rank) != node.ranks.end();
  });
  return static_cast<std::size_t>(at - nodes.begin());
}

}  // namespace chiplog
