#include "simulation/simulator.hpp"

#include <algorithm>
#include <cstddef>
#include <span>
#include <stdexcept>
#include <type_traits>
#include <utility>
#include <vector>

#include "simulation/critical_path.hpp"
#include "simulation/dependents.hpp"
#include "simulation/event_queue.hpp"
#include "simulation/huge_pages.hpp"
#include "simulation/lists.hpp"
#include "simulation/lookahead.hpp"
#include "simulation/matching.hpp"
#include "simulation/nodes.hpp"
#include "simulation/noise.hpp"
#include "simulation/released.hpp"
#include "simulation/resources.hpp"

namespace chiplog::simulation {
namespace {

constexpr std::uint32_t has_ended = no_operation;  // in place of an operation's count of open requirements
constexpr std::uint64_t events_between_polls = 1 << 20;

Action action_of(Kind kind) { return kind == Kind::calc ? Action::calc : Action::send; }

// The life of an operation:
//   release -> [become_ready] -> line -> start_calc | start_send     a message: arrive -> line -> take
//   release -> post                                                  a message and its receive end together
// In place of FollowedCauses where nobody asks for the critical path.
struct NoCauses {
  NoCauses(const Schedule& /*schedule*/, const Needs& /*needs*/) {}
};

// `Causes` are FollowedCauses or NoCauses.
template <class Matching, class Causes>
class Simulation {
 public:
  Simulation(const Schedule& schedule, const Needs& needs, const Parameters& parameters, const Options& options)
      : schedule_(schedule),
        operations_(schedule.operations),
        options_(options),
        costs_(parameters, schedule.ranks),
        S_bytes_(parameters.S_bytes),
        free_gaps_(free_gaps(parameters)),
        nodes_(schedule.ranks, parameters.ranks_per_node, parameters.node_attoseconds_per_byte),
        noise_(parameters.noise, schedule.ranks),
        noisy_(!noise_.silent()),
        waiting_for_end_(schedule.requires_end, schedule.operations.size()),
        waiting_for_start_(schedule.requires_start, schedule.operations.size()),
        states_(schedule.operations.size()),
        resources_(schedule.ranks, needs, free_gaps_),
        matching_(schedule, states_),
        causes_(schedule, needs),
        several_cpus_(needs.cpus > 1),
        arrive_whole_(costs_.arrive_whole()),
        lookahead_(operations_, queue_, states_, resources_, matching_),
        unfinished_(schedule.operations.size()) {
    for (const Dependency& one : schedule.requires_end) ++states_.open(one.operation);
    for (const Dependency& one : schedule.requires_start) ++states_.open(one.operation);
    if (several_cpus_) ready_.resize(operations_.size());
  }

  Outcome run() {
    schedule_first();
    for (std::uint64_t popped = 1; !queue_.empty(); ++popped) {
      lookahead_.prefetch();
      execute(queue_.pop());
      if (!released_.empty()) released_.drain([this](std::uint32_t one, Kind kind) { schedule(one, kind); });
      if (popped % events_between_polls == 0 && options_.poll) options_.poll();
    }
    return outcome();
  }

 private:
  void execute(const Event& event) {
    switch (event.action()) {
      case Action::calc:
      case Action::send:
      case Action::take:
        return try_first(event);
      case Action::post:
        return post(event.operation(), event.time());
      case Action::arrive:
        return join(event, Action::take);
      case Action::become_ready:
        return join(event, action_of(operations_[event.operation()].kind));
    }
  }

  // Starts the operations that require nothing. All CPUs are free, so posting a receive reads no state.
  void schedule_first() {
    const LargeVector<ReleasedOperation> first =
        released_together(schedule_, [this](std::uint32_t one) { return states_.open(one) == 0; });
    const auto is_receive = [](const ReleasedOperation& one) { return static_cast<Kind>(one.kind) == Kind::receive; };
    for (std::size_t place = 0; place < first.size(); ++place) {
      if (place + far_ahead < first.size() && !is_receive(first[place + far_ahead]))
        lookahead_.prefetch_operation(first[place + far_ahead].operation);
      const std::uint32_t operation = first[place].operation;
      if (is_receive(first[place])) {
        queue_.push({0, next_order_++, operation, Action::post});
      } else {
        schedule(operation, static_cast<Kind>(first[place].kind));
      }
    }
  }

  // Starts an operation that has been released.
  void schedule(std::uint32_t operation, Kind kind) {
    const std::uint32_t order = next_order_++;
    if (kind == Kind::receive) {
      if constexpr (follows) causes_.of({operation, false}) = cause_of_post(operation);
      queue_.push({earliest(operation, Action::post), order, operation, Action::post});
    } else if (several_cpus_) {
      queue_.push({earliest(operation, action_of(kind)), order, operation, Action::become_ready});
    } else {
      wait(operation, order, action_of(kind));
    }
  }

  // With one CPU per rank, all that an operation requires has ended when the CPU is free.
  [[nodiscard]] Picoseconds earliest(std::uint32_t operation, Action action) {
    const Picoseconds free = free_at(operations_[operation], action);
    return several_cpus_ ? std::max(free, ready_[operation]) : free;
  }

  void join(const Event& event, Action action) {
    if (free_at(operations_[event.operation()], action) <= event.time())
      return start(event.operation(), action, event.time());
    wait(event.operation(), event.order(), action);
  }

  void wait(std::uint32_t operation, std::uint32_t order, Action action) {
    List& line = resources_.line_of(operations_[operation], action);
    states_.order(operation) = order;
    insert_by_order(states_, line, operation);
    if (line.first == operation) try_later(operation, action);
  }

  void try_later(std::uint32_t operation, Action action) {
    queue_.push({free_at(operations_[operation], action), states_.order(operation), operation, action});
  }

  [[nodiscard]] Picoseconds free_at(const Operation& operation, Action action) {
    if (!arrive_whole_ || action != Action::take) return resources_.free_at(operation, action);
    return resources_.free_at(operation, action, costs_.of(operation).lead);
  }

  // Starts the first in line if its resources are free; then the next one is first.
  void try_first(const Event& event) {
    List& line = resources_.line_of(operations_[event.operation()], event.action());
    if (line.first != event.operation()) return;  // somebody came before it, who will let it move up again
    if (free_at(operations_[event.operation()], event.action()) > event.time())
      return try_later(event.operation(), event.action());
    take_first(states_, line);
    start(event.operation(), event.action(), event.time());
    if (line.first != no_operation) try_later(line.first, event.action());
  }

  void start(std::uint32_t operation, Action action, Picoseconds now) {
    ++events_;
    if constexpr (follows) causes_.of({operation, action == Action::take}) = cause_of(operation, action, now);
    switch (action) {
      case Action::send:
        return start_send(operation, now);
      case Action::take:
        return take(operation, now);
      default:
        return start_calc(operation, now);
    }
  }

  void start_calc(std::uint32_t operation, Picoseconds now) {
    const Operation& calc = operations_[operation];
    const Picoseconds end = busy_until(calc.rank, now, duration(calc.amount));
    resources_.cpu(calc.rank, calc.cpu) = end;
    if constexpr (follows) causes_.cpu(calc.rank, calc.cpu) = {{operation, false}, Passing::cpu};
    note({now, end, operation, Work::calc});
    started(operation, now);
    ended(operation, end, {{operation, false}, Passing::cpu});
  }

  [[nodiscard]] static Picoseconds duration(std::uint64_t nanoseconds) {
    Picoseconds time = 0;
    if (__builtin_mul_overflow(nanoseconds, 1000U, &time)) throw TimeOverflow();
    return time;
  }

  [[nodiscard]] Picoseconds busy_until(std::uint32_t rank, Picoseconds start, Picoseconds duration) {
    return noisy_ ? noise_.end(rank, start, duration) : add(start, duration);
  }

  // Noise, and waiting for the node's link, delay the message.
  void start_send(std::uint32_t operation, Picoseconds now) {
    const Operation& send = operations_[operation];
    const MessageCost& cost = costs_.of(send);
    const Picoseconds end = busy_until(send.rank, now, cost.send_cpu);
    const Picoseconds link = nodes_.delay(send.rank, send.peer, send.amount, now, cost.wire);
    const Picoseconds late = add(end - now - cost.send_cpu, link);
    Picoseconds& nic = resources_.sending_nic(send.rank, send.nic);
    resources_.cpu(send.rank, send.cpu) = end;
    nic = add(std::max(nic, now), add(cost.nic, link));
    if constexpr (follows) {
      causes_.cpu(send.rank, send.cpu) = {{operation, false}, Passing::cpu};
      causes_.sending_nic(send.rank, send.nic) = {{operation, false}, Passing::nic};
    }
    note({now, end, operation, Work::send});
    queue_.push({add(now, add(cost.arrival, late)), next_order_++, operation, Action::arrive});
    started(operation, now);
    if (!synchronises(send)) ended(operation, end, {{operation, false}, Passing::cpu});
  }

  [[nodiscard]] bool synchronises(const Operation& send) const { return send.amount > S_bytes_; }

  void take(std::uint32_t message, Picoseconds now) {
    const Operation& send = operations_[message];
    const MessageCost& cost = costs_.of(send);
    const Picoseconds end = busy_until(send.peer, now, cost.receive_cpu);
    resources_.cpu(send.peer, send.cpu) = end;
    resources_.receiving_nic(send.peer, send.nic) = add(now, cost.nic - cost.lead);
    const Cause taken = {{message, true}, Passing::cpu};
    if constexpr (follows) {
      causes_.cpu(send.peer, send.cpu) = taken;
      causes_.receiving_nic(send.peer, send.nic) = {{message, true}, Passing::nic};
    }
    note({now, end, message, Work::receive});
    if (several_cpus_) ready_[message] = end;
    const std::uint32_t receive = meet(send.peer, send.rank, send.tag, message);
    if (receive == no_operation) return;
    resume_sender(message, now, {message, true});
    ended(receive, end, taken);
  }

  void post(std::uint32_t operation, Picoseconds now) {
    const Operation& receive = operations_[operation];
    ++events_;
    started(operation, now);
    const std::uint32_t message = meet(receive.rank, receive.peer, receive.tag, operation);
    if (message == no_operation) return;
    resume_sender(message, now, {operation, false});
    if (several_cpus_ && ready_[message] > now)
      return ended(operation, ready_[message], {{message, true}, Passing::cpu});
    ended(operation, now, {{operation, false}, Passing::nothing});
  }

  std::uint32_t meet(std::uint32_t rank, std::uint32_t source, std::uint32_t tag, std::uint32_t operation) {
    const std::uint32_t counterpart = matching_.meet(rank, source, tag, operation);
    counterpart == no_operation ? ++unmatched_ : --unmatched_;
    return counterpart;
  }

  // A message has been received, now, at `moment`: a sender that waits for it continues.
  void resume_sender(std::uint32_t message, Picoseconds now, Moment moment) {
    const Operation& send = operations_[message];
    if (!synchronises(send)) return;
    Picoseconds& cpu = resources_.cpu(send.rank, send.cpu);
    Picoseconds& nic = resources_.sending_nic(send.rank, send.nic);
    if constexpr (follows) {
      if (cpu < now) causes_.cpu(send.rank, send.cpu) = {moment, Passing::nothing};
      if (nic < now) causes_.sending_nic(send.rank, send.nic) = {moment, Passing::nothing};
    }
    cpu = std::max(cpu, now);
    nic = std::max(nic, add(now, free_gaps_));
    ended(message, now, {moment, Passing::nothing});
  }

  void started(std::uint32_t operation, Picoseconds now) {
    if (!waiting_for_start_.empty())
      meet_requirement(waiting_for_start_.of(operation), now, {{operation, false}, Passing::nothing});
  }

  void ended(std::uint32_t operation, Picoseconds at, Cause cause) {
    --unfinished_;
    states_.open(operation) = has_ended;
    if (!waiting_for_end_.empty()) meet_requirement(waiting_for_end_.of(operation), at, cause);
  }

  void meet_requirement(std::span<const std::uint32_t> dependents, Picoseconds at, [[maybe_unused]] Cause cause) {
    for (const std::uint32_t dependent : dependents) {
      if constexpr (follows)
        if (several_cpus_ && at >= ready_[dependent]) causes_.requirement(dependent) = cause;
      if (several_cpus_) ready_[dependent] = std::max(ready_[dependent], at);
      if (--states_.open(dependent) == 0) released_.add(dependent, operations_[dependent]);
    }
  }

  // What decided when a receive is posted: its CPU, or what it requires.
  [[nodiscard]] Cause cause_of_post(std::uint32_t operation) {
    const Operation& receive = operations_[operation];
    if (several_cpus_ && ready_[operation] > resources_.cpu(receive.rank, receive.cpu))
      return causes_.requirement(operation);
    return causes_.cpu(receive.rank, receive.cpu);
  }

  // What decided that something starts now, before it takes its resources.
  [[nodiscard]] Cause cause_of(std::uint32_t operation, Action action, Picoseconds now) {
    const Operation& one = operations_[operation];
    const std::uint32_t rank = action == Action::take ? one.peer : one.rank;
    if (resources_.cpu(rank, one.cpu) == now) return causes_.cpu(rank, one.cpu);
    if (action == Action::send && resources_.sending_nic(rank, one.nic) == now)
      return causes_.sending_nic(rank, one.nic);
    if (action != Action::take) return several_cpus_ ? causes_.requirement(operation) : Cause();
    const Cause before = causes_.receiving_nic(rank, one.nic);
    const bool waited = resources_.receiving_nic(rank, one.nic) + costs_.of(one).lead == now;
    return waited && !before.is_start() ? before : Cause({operation, false}, Passing::arrival);
  }

  // The path to the CPU that is free last.
  [[nodiscard]] CriticalPath critical_path(const std::vector<Picoseconds>& finish) {
    const auto last = std::max_element(finish.begin(), finish.end());
    const auto rank = static_cast<std::uint32_t>(last - finish.begin());
    std::uint8_t cpu = 0;
    while (resources_.cpu(rank, cpu) != *last) ++cpu;
    return causes_.walk_back(causes_.cpu(rank, cpu), *last, costs_);
  }

  void note(const Busy& busy) {
    if (options_.trace) trace_.push_back(busy);
  }

  Outcome outcome() {
    Outcome found{resources_.finish(), events_, std::move(trace_), {}, {}, {}};
    if (unfinished_ == 0 && unmatched_ == 0) {
      if constexpr (follows) found.critical_path = critical_path(found.finish);
      return found;
    }
    for (std::uint32_t operation = 0; operation < operations_.size(); ++operation)
      if (states_.open(operation) != has_ended) found.unfinished.push_back(operation);
    for (const std::uint32_t operation : matching_.waiting())
      if (states_.open(operation) == has_ended) found.unreceived.push_back(operation);
    std::sort(found.unreceived.begin(), found.unreceived.end());
    return found;
  }

  static constexpr bool follows = std::is_same_v<Causes, FollowedCauses>;

  const Schedule& schedule_;
  std::span<const Operation> operations_;
  const Options& options_;
  PairCosts costs_;
  std::uint64_t S_bytes_;
  Picoseconds free_gaps_;  // how long before its NIC is free a send may start
  Nodes nodes_;
  Noise noise_;
  bool noisy_;
  Dependents waiting_for_end_;
  Dependents waiting_for_start_;
  LargeVector<Picoseconds> ready_;  // by operation; for several CPUs only
  OperationStates states_;
  Resources resources_;
  Matching matching_;
  [[no_unique_address]] Causes causes_;
  bool several_cpus_;
  bool arrive_whole_;  // some messages do
  EventQueue queue_;
  Lookahead<Matching> lookahead_;
  ReleasedOperations released_;
  std::vector<Busy> trace_;
  std::uint32_t next_order_ = 0;  // up to two an operation
  std::uint64_t events_ = 0;
  std::size_t unfinished_;     // operations that have not ended
  std::size_t unmatched_ = 0;  // messages that nobody has received, and receives that wait
};

template <class Causes>
Outcome run(const Schedule& schedule, const Parameters& parameters, const Options& options) {
  const Needs needs = check(schedule);
  return needs.wildcards ? Simulation<WildcardMatching, Causes>(schedule, needs, parameters, options).run()
                         : Simulation<ExactMatching, Causes>(schedule, needs, parameters, options).run();
}

}  // namespace

Outcome simulate(const Schedule& schedule, const Parameters& parameters, const Options& options) {
  if (!options.follow) return run<NoCauses>(schedule, parameters, options);
  if (parameters.free_messages > 1 || parameters.ranks_per_node > 0 ||
      !Noise(parameters.noise, schedule.ranks).silent())
    throw std::invalid_argument("the critical path is told without noise, shared rates and free messages only");
  return run<FollowedCauses>(schedule, parameters, options);
}

}  // namespace chiplog::simulation
