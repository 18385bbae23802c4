#include "simulation/schedule.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

namespace chiplog::simulation {
namespace {

void check_operation(const Operation& operation, std::uint32_t ranks) {
  if (operation.rank >= ranks) throw std::invalid_argument("an operation's rank must be below the number of ranks");
  switch (operation.kind) {
    case Kind::calc:
      return;
    case Kind::send:
      if (operation.tag == wildcard) throw std::invalid_argument("a send needs a tag");
      if (operation.peer >= ranks) throw std::invalid_argument("a send's peer must be below the number of ranks");
      return;
    case Kind::receive:
      if (operation.peer >= ranks && operation.peer != wildcard)
        throw std::invalid_argument("a receive's peer must be below the number of ranks, or any");
      return;
  }
  throw std::invalid_argument("an operation must be a send, a receive or a calc");
}

bool has_wildcard(const Operation& operation) {
  return operation.kind == Kind::receive && (operation.peer == wildcard || operation.tag == wildcard);
}

void check_dependencies(std::span<const Dependency> dependencies, std::span<const Operation> operations) {
  for (const Dependency& one : dependencies) {
    if (one.operation >= operations.size() || one.on >= operations.size())
      throw std::invalid_argument("a dependency must name operations of the schedule");
    if (operations[one.operation].rank != operations[one.on].rank)
      throw std::invalid_argument("a dependency must name operations of one rank");
  }
}

}  // namespace

Needs check(const Schedule& schedule) {
  if (schedule.ranks == 0 || schedule.ranks == wildcard) throw std::invalid_argument("a schedule needs ranks");
  if (schedule.operations.size() > most_operations)
    throw std::invalid_argument("a schedule holds up to 2^30 operations");
  Needs needs;
  for (const Operation& operation : schedule.operations) {
    check_operation(operation, schedule.ranks);
    needs.cpus = std::max<std::size_t>(needs.cpus, operation.cpu + 1U);
    needs.nics = std::max<std::size_t>(needs.nics, operation.nic + 1U);
    needs.wildcards |= has_wildcard(operation);
  }
  check_dependencies(schedule.requires_end, schedule.operations);
  check_dependencies(schedule.requires_start, schedule.operations);
  return needs;
}

}  // namespace chiplog::simulation
