#include "simulation/critical_path.hpp"

#include <algorithm>
#include <stdexcept>

namespace chiplog::simulation {
namespace {

// Adds up the costs of one message after another.
class Counter {
 public:
  Counter(CriticalPath& path, PairCosts& costs) : path_(path), costs_(costs) {}

  // Counts what passes from the moment that `cause` names until `next` begins, and returns how long it takes.
  Picoseconds add(const Cause& cause, const Operation& operation, const Operation& next) {
    count(cause, operation, next);
    if (operation.kind == Kind::calc) return cause.passing() == Passing::cpu ? computed(operation) : 0;
    const MessageCost cost = costs_.of(operation);
    const bool at_receiver = cause.moment().at_receiver;
    switch (cause.passing()) {
      case Passing::nothing:
        return 0;
      case Passing::cpu:
        return at_receiver ? cost.receive_cpu : cost.send_cpu;
      case Passing::nic:
        return at_receiver ? cost.nic - cost.lead + costs_.of(next).lead : cost.nic;
      case Passing::arrival:
        return cost.arrival;
    }
    return 0;
  }

 private:
  static Picoseconds computed(const Operation& calc) { return static_cast<Picoseconds>(calc.amount) * 1000; }

  void count(const Cause& cause, const Operation& operation, const Operation& next) {
    const bool at_receiver = cause.moment().at_receiver;
    switch (cause.passing()) {
      case Passing::nothing:
        return;
      case Passing::cpu:
        if (operation.kind == Kind::calc) {
          path_.computing += computed(operation);
        } else if (at_receiver) {
          add_receive(operation, 1);
        } else {
          count(path_.send, operation, 1);
        }
        return;
      case Passing::nic:
        count(path_.nic, operation, 1);
        if (!at_receiver) return;
        add_lead(operation, -1);
        add_lead(next, 1);
        return;
      case Passing::arrival:
        add_arrival(operation, 1);
        return;
    }
  }

  static void count(LineCounts& line, const Operation& message, std::int64_t sign) {
    line.starts += sign;
    count_bytes(line, message, sign);
  }

  static void count_bytes(LineCounts& line, const Operation& message, std::int64_t sign) {
    line.further_bytes += sign * static_cast<std::int64_t>(std::max<std::uint64_t>(message.amount, 1) - 1);
  }

  void add_arrival(const Operation& message, std::int64_t sign) {
    count(path_.one_way, message, sign);
    add_receive(message, -sign);
  }

  // The receiver's CPU time, or the line that bounds it.
  void add_receive(const Operation& message, std::int64_t sign) {
    const Protocol& protocol = costs_.protocol_of(message);
    const MessageCost& cost = costs_.of(message);
    const Picoseconds own =
        protocol.receive.start + bytes_after_first(message.amount, protocol.receive.attoseconds_per_byte);
    if (cost.receive_cpu == own) return count(path_.receive, message, sign);
    if (cost.arrival == 0) return count(path_.one_way, message, sign);
    count(cost.send_cpu >= cost.nic ? path_.send : path_.nic, message, sign);
  }

  void add_lead(const Operation& message, std::int64_t sign) {
    const MessageCost cost = costs_.of(message);
    if (!costs_.protocol_of(message).arrives_whole) return;
    if (cost.wire <= cost.arrival) return count_bytes(path_.nic, message, sign);
    add_arrival(message, sign);
  }

  CriticalPath& path_;
  PairCosts& costs_;
};

}  // namespace

FollowedCauses::FollowedCauses(const Schedule& schedule, const Needs& needs)
    : operations_(schedule.operations),
      needs_(needs),
      cpus_(schedule.ranks * needs.cpus),
      sending_(schedule.ranks * needs.nics),
      receiving_(schedule.ranks * needs.nics) {
  if (operations_.size() > most_followed)
    throw std::invalid_argument("the critical path can be followed through up to 2^29 operations");
  if (needs.cpus > 1) requirements_.resize(operations_.size());
  causes_.resize(2 * operations_.size());
}

CriticalPath FollowedCauses::walk_back(Cause last, Picoseconds finish, PairCosts& costs) {
  CriticalPath path;
  Counter counter(path, costs);
  const Operation* next = nullptr;
  Picoseconds time = finish;
  for (Cause cause = last; !cause.is_start(); cause = of(cause.moment())) {
    const Moment moment = cause.moment();
    const Operation& operation = operations_[moment.operation];
    time -= counter.add(cause, operation, next == nullptr ? operation : *next);
    path.steps.push_back({time, moment.operation, moment.at_receiver ? 1U : 0U});
    next = &operation;
  }
  std::reverse(path.steps.begin(), path.steps.end());
  return path;
}

}  // namespace chiplog::simulation
