#include "transports/sim/network.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "chiplog/error.hpp"

namespace chiplog::sim {

Picoseconds to_picoseconds(double nanoseconds) {
  return nanoseconds <= 0.0 ? 0 : static_cast<Picoseconds>(std::llround(nanoseconds * 1e3));
}

Network::Network(const Parameters& parameters, Fibers& fibers)
    : parameters_(parameters),
      fibers_(fibers),
      nodes_(static_cast<std::size_t>(parameters.ranks)),
      queues_(nodes_.size() * nodes_.size()) {}

std::deque<Network::Message>& Network::queue(Rank from, Rank to) {
  return queues_[static_cast<std::size_t>(from) * nodes_.size() + static_cast<std::size_t>(to)];
}

Network::Times Network::times(std::size_t bytes) const {
  const Protocol& protocol = parameters_.protocol(bytes);
  const double further_bytes = static_cast<double>(std::max<std::size_t>(bytes, 1) - 1);
  return {to_picoseconds(protocol.L_ns), to_picoseconds(protocol.o_s_ns), to_picoseconds(protocol.o_r_ns),
          to_picoseconds(protocol.g_ns), to_picoseconds(further_bytes * protocol.G_ns)};
}

Picoseconds Network::inject(Node& sender, Picoseconds earliest, const Times& times) {
  const Picoseconds injection = std::max(earliest, sender.nic_free);
  sender.nic_free = injection + times.g + times.bytes;
  return injection + times.bytes + times.L;
}

void Network::post_send(Rank from, Rank to, const std::byte* payload, std::size_t bytes) {
  Node& sender = node(from);
  const Times time = times(bytes);
  Message message;
  message.bytes = bytes;
  message.posted = sender.cpu;
  message.synchronises = parameters_.waits_for_receive(bytes);
  if (payload != nullptr) {
    message.payload.assign(payload, payload + bytes);
    message.has_payload = true;
  }
  sender.cpu += time.o_s;
  sender.ready_since = sender.cpu;
  if (message.synchronises) ++sender.synchronised_sends;
  const bool data_follows_handshake = message.synchronises && parameters_.handshake == Handshake::sync;
  if (!data_follows_handshake) message.arrival = inject(sender, sender.cpu, time);
  queue(from, to).push_back(std::move(message));
}

void Network::wait_sends(Rank rank) {
  Node& sender = node(rank);
  fibers_.wait_until([&] { return sender.matched_sends == sender.synchronised_sends; });
  sender.cpu = std::max(sender.cpu, sender.latest_match);
  sender.ready_since = std::max(sender.ready_since, sender.cpu);
}

void Network::match(Message& message, Node& sender, const Node& receiver, const Times& times) const {
  Picoseconds sender_goes_on = std::max(message.posted + times.o_s, receiver.ready_since);
  if (parameters_.handshake == Handshake::sync) {
    const Picoseconds request = std::max(message.posted + times.o_s + times.L, receiver.ready_since) + times.o_r;
    const Picoseconds answer = request + times.o_s + times.L + times.o_r;
    sender_goes_on = answer + times.o_s;
    message.arrival = inject(sender, sender_goes_on, times);
  }
  ++sender.matched_sends;
  sender.latest_match = std::max(sender.latest_match, sender_goes_on);
}

std::size_t Network::recv(Rank rank, Rank source, std::byte* payload, std::size_t capacity_bytes) {
  std::deque<Message>& arriving = queue(source, rank);
  fibers_.wait_until([&] { return !arriving.empty(); });
  Message message = std::move(arriving.front());
  arriving.pop_front();
  Node& receiver = node(rank);
  const Times time = times(message.bytes);
  if (message.synchronises) match(message, node(source), receiver, time);
  receiver.cpu = std::max(receiver.cpu, message.arrival) + time.o_r;
  if (message.bytes > capacity_bytes) {
    throw Truncated("a message of " + std::to_string(message.bytes) + " bytes arrived where there was room for " +
                    std::to_string(capacity_bytes));
  }
  if (message.has_payload && message.bytes > 0) std::memcpy(payload, message.payload.data(), message.bytes);
  return message.bytes;
}

void Network::compute(Rank rank, Picoseconds duration) {
  Node& busy = node(rank);
  busy.cpu += duration;
  busy.ready_since = busy.cpu;
}

void Network::settle(Rank rank) {
  Node& idle = node(rank);
  for (const Node& other : nodes_) idle.cpu = std::max(idle.cpu, other.nic_free);
  idle.ready_since = idle.cpu;
}

}  // namespace chiplog::sim
