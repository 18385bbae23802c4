#include "transports/sim/network.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

#include "chiplog/error.hpp"

namespace chiplog::sim {

Network::Network(const Parameters& parameters, Fibers& fibers, std::uint64_t seed)
    : parameters_(parameters),
      fibers_(fibers),
      processes_(static_cast<std::size_t>(parameters.ranks)),
      messages_(processes_.size() * processes_.size()),
      writes_(messages_.size()) {
  if (parameters.disturbances.states) states_.emplace(*parameters.disturbances.states, seed);
  if (!parameters.node) return;
  nodes_.assign(2, NodeNic(parameters.node->R_N, parameters.ranks));
  fibers.when_all_wait([this] { return next_event(); });
}

Network::Queue& Network::of(std::vector<Queue>& queues, Rank from, Rank to) {
  return queues[static_cast<std::size_t>(from) * processes_.size() + static_cast<std::size_t>(to)];
}

Network::Times Network::times(std::size_t bytes, Rank rank, Rank peer, double duplex) {
  const Protocol& protocol = parameters_.protocol(bytes);
  const double further_bytes = static_cast<double>(std::max<std::size_t>(bytes, 1) - 1);
  const double factor = states_ ? states_->factor(process(rank).cpu) : 1.0;
  const double cpu_factor = parameters_.slow.empty() ? factor : factor * parameters_.cpu_factor(rank);
  const double link_factor = parameters_.slow.empty() ? factor : factor * parameters_.link_factor(rank, peer);
  const auto of_cpu = [cpu_factor](double nanoseconds) { return to_picoseconds(cpu_factor * nanoseconds); };
  const auto of_link = [link_factor](double nanoseconds) { return to_picoseconds(link_factor * nanoseconds); };
  return {.L = of_link(protocol.L_ns),
          .o_s = of_cpu(protocol.o_s_ns),
          .o_r = of_cpu(protocol.o_r_ns),
          .g = of_link(protocol.g_ns),
          .wire = of_link(further_bytes * duplex * protocol.G_ns),
          .send = of_cpu(protocol.o_s_ns + further_bytes * protocol.O_s_ns),
          .receive = of_cpu(protocol.o_r_ns + further_bytes * protocol.O_r_ns)};
}

Picoseconds Network::inject(Process& sender, Picoseconds earliest, const Times& times) const {
  const Picoseconds injection = sender.nic.inject(earliest, times.g + times.wire, parameters_.f);
  return injection + times.wire + times.L;
}

void Network::inject(Message& message, Process& sender, Picoseconds earliest, const Times& times) const {
  message.arrival = inject(sender, earliest, times);
  if (parameters_.f > 1) return;
  message.wire = times.wire;
  message.keeps_nic = times.g + times.wire;
}

Picoseconds Network::start_up(const Burst& burst) const {
  const auto total = [&](std::size_t sends) {
    return to_picoseconds(parameters_.start_up.total_ns(static_cast<double>(sends)));
  };
  return total(burst.sends.size() + 1) - total(burst.sends.size());
}

Message& Network::post(Queue& queue, Rank from, Rank to, Message posted) {
  Process& sender = process(from);
  Message& message = queue.emplace_back(std::move(posted));
  const Times time = times(message.bytes, from, to, message.duplex);
  message.posted = sender.cpu;
  const bool asks_first = message.synchronises && parameters_.handshake == Handshake::sync;
  sender.cpu += asks_first ? time.o_s : time.send;
  if (parameters_.counts_sends_in_a_row() || sender.burst.is_list) {
    if (sender.burst.sends.empty()) sender.burst.begin = message.posted;
    sender.cpu += start_up(sender.burst);
    sender.burst.sends.push_back({to, &message, time});
  } else if (parameters_.node) {
    send_between_nodes(from, to, message, time);
  } else if (!asks_first) {
    inject(message, sender, sender.cpu, time);
  }
  sender.ready_since = sender.cpu;
  if (message.synchronises) ++sender.synchronised_sends;
  return message;
}

void Network::post_message(Rank from, Rank to, const std::byte* payload, std::size_t bytes, double duplex) {
  const bool synchronises = parameters_.waits_for_receive(bytes);
  Message& message =
      post(of(messages_, from, to), from, to, {.bytes = bytes, .synchronises = synchronises, .duplex = duplex});
  if (payload == nullptr) return;
  message.payload.assign(payload, payload + bytes);
  message.has_payload = true;
}

void Network::post_write(Rank from, Rank to, const std::byte* payload, std::size_t bytes, std::size_t carried,
                         std::byte* target) {
  Message& message = post(of(writes_, from, to), from, to, {.bytes = bytes});
  message.payload.assign(payload + bytes - carried, payload + bytes);
  message.target = target + bytes - carried;
}

// Only now it is known what each of the sends cost, and so when each was posted.
void Network::end_burst(Process& sender) {
  Burst& burst = sender.burst;
  if (burst.sends.empty()) return;
  const auto count = static_cast<double>(burst.sends.size());
  const auto posting = static_cast<double>(sender.cpu - burst.begin);
  for (std::size_t i = 0; i < burst.sends.size(); ++i) {
    const auto [to, message, time] = burst.sends[i];
    if (parameters_.lop) {
      message->arrival = std::max(sender.cpu, burst.begin + to_picoseconds(parameters_.lop->one_way_ns(count)));
    } else {
      const double spent = posting * (static_cast<double>(i + 1) / count);
      inject(*message, sender, burst.begin + static_cast<Picoseconds>(std::llround(spent)), time);
    }
  }
  burst.sends.clear();
}

void Network::begin_list(Rank rank) {
  end_burst(process(rank));
  process(rank).burst.is_list = true;
}

void Network::end_list(Rank rank) {
  Process& sender = process(rank);
  const Burst list = std::exchange(sender.burst, {});
  const auto count = static_cast<double>(list.sends.size());
  for (const Posted& posted : list.sends) {
    if (parameters_.lop) {
      const double further_posts = static_cast<double>(sender.cpu - list.begin) * (1.0 - 1.0 / count);
      const Picoseconds late = static_cast<Picoseconds>(std::llround(further_posts));
      posted.message->arrival =
          std::max(sender.cpu, list.begin + late + to_picoseconds(parameters_.lop->one_way_ns(count)));
    } else {
      hand_over(rank, posted);
    }
  }
  for (const Fetch& fetch : list.fetches) request(rank, fetch.peer, fetch.bytes);
}

// Gives a message of a list to the NIC, as if its own post had ended now.
void Network::hand_over(Rank from, const Posted& posted) {
  Process& sender = process(from);
  const auto& [to, message, time] = posted;
  const bool asks_first = message->synchronises && parameters_.handshake == Handshake::sync;
  message->posted = sender.cpu - (asks_first ? time.o_s : time.send);
  if (parameters_.node) {
    send_between_nodes(from, to, *message, time);
  } else if (!asks_first) {
    inject(*message, sender, sender.cpu, time);
  }
}

// Where start-up is hidden, the node's NIC works from the beginning on, beside what the process needs for itself.
void Network::send_between_nodes(Rank from, Rank to, Message& message, const Times& times) {
  Process& sender = process(from);
  const Protocol& protocol = parameters_.protocol(message.bytes);
  const Picoseconds alone = to_picoseconds(static_cast<double>(message.bytes) / protocol.R_Cb * 1e9);
  const bool is_local = node_of(from) == node_of(to);
  const bool hidden = parameters_.node->hides_start_up;
  if (is_local || hidden) message.arrival = sender.cpu + alone + times.L;
  if (is_local) return;
  constexpr double no_limit = std::numeric_limits<double>::infinity();
  nodes_[node_of(from)].add(from, {.message = &message,
                                   .earliest = hidden ? message.posted : sender.cpu,
                                   .gap = times.g,
                                   .R_Cb = hidden ? no_limit : protocol.R_Cb,
                                   .R_Ci = hidden ? no_limit : protocol.R_Ci});
}

void Network::wait_sends(Rank rank) {
  Process& sender = process(rank);
  end_burst(sender);
  sender.waits = true;
  fibers_.wait_until([&] { return sender.matched_sends == sender.synchronised_sends; });
  sender.waits = false;
  sender.cpu = std::max(sender.cpu, sender.latest_match);
  sender.ready_since = std::max(sender.ready_since, sender.cpu);
}

void Network::match(Message& message, Process& sender, const Process& receiver, const Times& times) {
  const bool is_always_heard = parameters_.progress == Progress::always;
  const Picoseconds ready =
      is_always_heard ? receiver.receive_posted.value_or(receiver.ready_since) : receiver.ready_since;
  Picoseconds sender_goes_on = std::max(message.posted + times.send, ready);
  if (parameters_.handshake == Handshake::sync) {
    const Picoseconds request = std::max(message.posted + times.o_s + times.L, ready) + times.o_r;
    Picoseconds answer = request + times.o_s + times.L;
    if (!is_always_heard) {
      fibers_.wait_until([&] { return sender.waits; });
      answer = std::max(answer, sender.computed_until);
    }
    sender_goes_on = answer + times.o_r + times.send;
    inject(message, sender, sender_goes_on, times);
  }
  ++sender.matched_sends;
  sender.latest_match = std::max(sender.latest_match, sender_goes_on);
}

Picoseconds Network::landed(const Message& message, Rank from, Process& receiver) {
  if (message.keeps_nic == 0) return message.arrival;
  return receiver.receiving_nic.receive(from, message.arrival - message.wire, message.keeps_nic) + message.wire;
}

Picoseconds Network::received(const Message& message, Picoseconds ready, const Times& times) const {
  if (!message.drained) return std::max(ready, message.arrival) + times.receive;
  if (!parameters_.node->hides_start_up) return std::max(ready, *message.drained + times.L) + times.receive;
  return std::max(std::max(ready, message.arrival) + times.receive, *message.drained);
}

Message Network::take(Queue& queue, Rank rank, Rank source) {
  end_burst(process(rank));
  fibers_.wait_until([&] { return !queue.empty(); });
  end_burst(process(source));
  fibers_.wait_until([&] { return !queue.front().under_way; });
  Message message = std::move(queue.front());
  queue.pop_front();
  return message;
}

std::size_t Network::wait_recv(Rank rank, Rank source, std::byte* payload, std::size_t capacity_bytes) {
  const std::size_t received_bytes = recv(rank, source, payload, capacity_bytes);
  process(rank).receive_posted.reset();
  return received_bytes;
}

std::size_t Network::recv(Rank rank, Rank source, std::byte* payload, std::size_t capacity_bytes) {
  Process& receiver = process(rank);
  receiver.waits = true;
  Message message = take(of(messages_, source, rank), rank, source);
  const Times time = times(message.bytes, rank, source, message.duplex);
  if (message.synchronises) match(message, process(source), receiver, time);
  receiver.waits = false;
  message.arrival = landed(message, source, receiver);
  receiver.cpu = received(message, receiver.cpu, time);
  if (message.bytes > capacity_bytes) {
    throw Truncated("a message of " + std::to_string(message.bytes) + " bytes arrived where there was room for " +
                    std::to_string(capacity_bytes));
  }
  if (message.has_payload && message.bytes > 0) std::memcpy(payload, message.payload.data(), message.bytes);
  return message.bytes;
}

void Network::await_write(Rank rank, Rank source, bool costs_receiver) {
  Message message = take(of(writes_, source, rank), rank, source);
  Process& receiver = process(rank);
  Times time = times(message.bytes, rank, source);
  time.receive = costs_receiver ? time.o_r : 0;
  message.arrival = landed(message, source, receiver);
  receiver.cpu = received(message, receiver.cpu, time);
  std::copy(message.payload.begin(), message.payload.end(), message.target);
}

void Network::post_fetch(Rank rank, Rank peer, std::size_t bytes) {
  Process& origin = process(rank);
  const bool is_listed = origin.burst.is_list;
  if (!is_listed) end_burst(origin);
  origin.cpu += times(bytes, rank, peer).o_s;
  origin.ready_since = origin.cpu;
  if (is_listed) {
    origin.burst.fetches.push_back({peer, bytes});
  } else {
    request(rank, peer, bytes);
  }
}

// The request for `bytes` goes out now, and the peer's NIC answers.
void Network::request(Rank rank, Rank peer, std::size_t bytes) {
  Process& origin = process(rank);
  const Times answer = times(bytes, rank, peer);
  const Picoseconds asked = inject(origin, origin.cpu, times(1, rank, peer));
  origin.latest_fetch = std::max(origin.latest_fetch, inject(process(peer), asked, answer));
}

std::size_t Network::show_window(Rank rank, std::byte* begin) {
  process(rank).windows.push_back(begin);
  const std::size_t number = process(rank).windows.size() - 1;
  fibers_.wait_until([&] {
    return std::all_of(processes_.begin(), processes_.end(),
                       [&](const Process& one) { return one.windows.size() > number; });
  });
  return number;
}

void Network::wait_fetches(Rank rank) {
  Process& origin = process(rank);
  end_burst(origin);
  origin.cpu = std::max(origin.cpu, origin.latest_fetch);
  origin.ready_since = std::max(origin.ready_since, origin.cpu);
}

void Network::compute(Rank rank, Picoseconds duration) {
  Process& busy = process(rank);
  end_burst(busy);
  busy.cpu += duration;
  busy.ready_since = busy.computed_until = busy.cpu;
}

bool Network::next_event() {
  const auto next = std::min_element(nodes_.begin(), nodes_.end(), [](const NodeNic& one, const NodeNic& other) {
    return one.next_event() < other.next_event();
  });
  if (next == nodes_.end() || next->is_empty()) return false;
  next->advance();
  return true;
}

bool Network::nodes_are_idle() const {
  return std::all_of(nodes_.begin(), nodes_.end(), [](const NodeNic& node) { return node.is_empty(); });
}

Picoseconds Network::idle_at() {
  Picoseconds latest = 0;
  for (Process& one : processes_) {
    end_burst(one);
    latest = std::max(latest, one.nic.empty_at());
  }
  for (const NodeNic& node : nodes_) latest = std::max(latest, node.free_at());
  return latest;
}

void Network::settle(Rank rank, int parties) {
  std::vector<Rank> settled{rank};
  if (parties > 1) {
    process(rank).settled = false;
    settling_.push_back(rank);
    if (settling_.size() < static_cast<std::size_t>(parties)) {
      fibers_.wait_until([&] { return process(rank).settled; });
      return;
    }
    settled = std::exchange(settling_, {});
    ++meetings_;
  }
  fibers_.wait_until([&] { return nodes_are_idle(); });
  Picoseconds begin = idle_at();
  for (const Rank party : settled) begin = std::max(begin, now(party));
  for (Process& each : processes_) each.receiving_nic.forget();
  for (const Rank party : settled) {
    Process& one = process(party);
    one.cpu = one.ready_since = begin;
    one.settled = true;
    one.meeting = parties > 1 ? meetings_ : 0;
  }
}

}  // namespace chiplog::sim
