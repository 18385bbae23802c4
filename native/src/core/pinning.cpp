#include "core/pinning.hpp"

#include <sched.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "chiplog/error.hpp"
#include "core/machine.hpp"
#include "core/quantity.hpp"

namespace chiplog {
namespace {

bool bind_to(int cpu) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(static_cast<unsigned>(cpu), &set);
  return sched_setaffinity(0, sizeof set, &set) == 0;
}

std::string text_of(const std::vector<int>& cpus) {
  std::string text;
  for (const int cpu : cpus) text += std::to_string(cpu) + " ";
  return text;
}

// The number of this node's ranks that share these CPUs, and how many of them come before this one.
struct Share {
  std::size_t ranks = 0;
  std::size_t before = 0;
  bool whole_node = true;
};

Share share_of(const Node& node, Rank self, const std::vector<std::string>& allowed) {
  Share share;
  for (const Rank rank : node.ranks) {
    const bool same = allowed[static_cast<std::size_t>(rank)] == allowed[static_cast<std::size_t>(self)];
    share.whole_node = share.whole_node && same;
    if (!same) continue;
    ++share.ranks;
    if (rank < self) ++share.before;
  }
  return share;
}

bool differ(const std::vector<Cpu>& cpus, std::size_t ranks) {
  const std::vector<int> filled = placement_order(Placement::filled, cpus);
  const std::vector<int> round_robin = placement_order(Placement::round_robin, cpus);
  const auto used = static_cast<std::ptrdiff_t>(std::min(ranks, cpus.size()));
  return !std::equal(filled.begin(), filled.begin() + used, round_robin.begin());
}

void bind_to_listed(const std::vector<int>& listed, const std::vector<int>& allowed, Rank rank) {
  const int cpu = listed.at(static_cast<std::size_t>(rank));
  const bool is_allowed = std::find(allowed.begin(), allowed.end(), cpu) != allowed.end();
  if (is_allowed && bind_to(cpu)) return;
  throw UsageError("--pin: rank " + std::to_string(rank) + " may not run on CPU " + std::to_string(cpu));
}

bool any_says_yes(Bootstrap& bootstrap, bool answer) {
  const std::vector<std::string> answers = bootstrap.all_gather(answer ? "y" : "n");
  return std::find(answers.begin(), answers.end(), "y") != answers.end();
}

}  // namespace

std::vector<int> placement_order(Placement placement, std::vector<Cpu> cpus) {
  using Domain = std::pair<int, int>;
  const auto domain_of = [](const Cpu& cpu) { return Domain{cpu.socket, cpu.numa_node}; };
  std::stable_sort(cpus.begin(), cpus.end(), [&](const Cpu& a, const Cpu& b) {
    return std::tuple(a.thread, domain_of(a), a.cache) < std::tuple(b.thread, domain_of(b), b.cache);
  });
  if (placement == Placement::round_robin) {
    std::map<std::pair<int, Domain>, int> taken;
    std::vector<std::tuple<int, int, Domain, int>> keyed;  // thread, turn, domain, CPU
    for (const Cpu& cpu : cpus) {
      const int turn = taken[{cpu.thread, domain_of(cpu)}]++;
      keyed.emplace_back(cpu.thread, turn, domain_of(cpu), cpu.number);
    }
    std::sort(keyed.begin(), keyed.end());
    std::vector<int> order;
    for (const auto& key : keyed) order.push_back(std::get<3>(key));
    return order;
  }
  std::vector<int> order;
  for (const Cpu& cpu : cpus) order.push_back(cpu.number);
  return order;
}

PinRequest parse_pin(std::string_view request, int ranks) {
  if (request == "filled") return {};
  if (request == "round-robin") return {PinRequest::Kind::round_robin, {}};
  if (request == "none") return {PinRequest::Kind::none, {}};
  PinRequest pin{PinRequest::Kind::list, {}};
  while (true) {
    const std::size_t comma = request.find(',');
    const auto cpu =
        parse_integer(request.substr(0, comma), "--pin: a CPU in the list, besides filled, round-robin and none,", 0,
                      CPU_SETSIZE - 1);
    pin.cpus.push_back(static_cast<int>(cpu));
    if (comma == std::string_view::npos) break;
    request.remove_prefix(comma + 1);
  }
  if (pin.cpus.size() != static_cast<std::size_t>(ranks)) {
    throw UsageError("--pin names " + std::to_string(pin.cpus.size()) + " CPUs for " + std::to_string(ranks) +
                     " ranks; it accepts filled, round-robin, none or one CPU a rank");
  }
  return pin;
}

Binding bind_ranks(const PinRequest& request, Bootstrap& bootstrap, const std::vector<Node>& nodes) {
  const Rank rank = bootstrap.rank();
  const std::vector<int> allowed = allowed_cpus();
  const std::vector<std::string> all_allowed = bootstrap.all_gather(text_of(allowed));
  const Share share = share_of(nodes[node_of(nodes, rank)], rank, all_allowed);
  const std::vector<Cpu> cpus = read_topology(allowed);

  Binding binding;
  const bool by_launcher = any_says_yes(bootstrap, !share.whole_node);
  binding.placements_differ = any_says_yes(bootstrap, !by_launcher && differ(cpus, share.ranks));
  if (request.kind == PinRequest::Kind::none || allowed.empty()) return binding;
  if (request.kind == PinRequest::Kind::list) {
    bind_to_listed(request.cpus, allowed, rank);
    binding.placement = "list";
    return binding;
  }
  const bool is_filled = request.kind == PinRequest::Kind::filled;
  const std::vector<int> order = placement_order(is_filled ? Placement::filled : Placement::round_robin, cpus);
  bind_to(order[share.before % order.size()]);
  binding.placement = by_launcher ? "launcher" : is_filled ? "filled" : "round-robin";
  return binding;
}

}  // namespace chiplog
