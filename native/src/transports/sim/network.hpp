// The simulated network: LogGP in virtual time, exact to the picosecond.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include "chiplog/transport.hpp"
#include "transports/sim/fibers.hpp"
#include "transports/sim/parameters.hpp"

namespace chiplog::sim {

// Virtual time in picoseconds.
using Picoseconds = std::uint64_t;

[[nodiscard]] Picoseconds to_picoseconds(double nanoseconds);

// A sender at time t is busy to t + o_s; injection starts when its NIC is free, too, and keeps the NIC busy for
// g + (s-1)G; the last byte arrives (s-1)G + L after the injection began; the receiver is done o_r after the arrival
// or after it was ready, whichever is later. 0 bytes count as 1.
//
// Above S a sender goes on only when the receiver is ready. A receiver is ready from the moment at which it has
// nothing to do but to receive: between two receives it does not stop being ready (its receives are posted ahead), so
// a train runs at the speed of LogGP. With the handshake `sync` the data is sent only after a request and its answer,
// each L + o_s + o_r.
class Network {
 public:
  Network(const Parameters& parameters, Fibers& fibers);

  [[nodiscard]] const Parameters& parameters() const { return parameters_; }

  // `payload` may be null: then the message has no contents.
  void post_send(Rank from, Rank to, const std::byte* payload, std::size_t bytes);
  // Until all that `rank` has sent above S was matched.
  void wait_sends(Rank rank);
  std::size_t recv(Rank rank, Rank source, std::byte* payload, std::size_t capacity_bytes);

  [[nodiscard]] Picoseconds now(Rank rank) const { return node(rank).cpu; }
  void compute(Rank rank, Picoseconds duration);
  // Lets `rank` idle until no NIC is busy any more.
  void settle(Rank rank);

 private:
  struct Message {
    std::size_t bytes = 0;
    Picoseconds posted = 0;
    Picoseconds arrival = 0;  // not known yet if `waits`
    bool synchronises = false;
    std::vector<std::byte> payload;
    bool has_payload = false;
  };
  struct Node {
    Picoseconds cpu = 0;
    Picoseconds nic_free = 0;
    Picoseconds ready_since = 0;  // to receive
    std::uint64_t synchronised_sends = 0;
    std::uint64_t matched_sends = 0;
    Picoseconds latest_match = 0;  // when the sender may go on
  };
  struct Times {
    Picoseconds L, o_s, o_r, g, bytes;  // bytes: (s-1)G
  };

  [[nodiscard]] Node& node(Rank rank) { return nodes_[static_cast<std::size_t>(rank)]; }
  [[nodiscard]] const Node& node(Rank rank) const { return nodes_[static_cast<std::size_t>(rank)]; }
  [[nodiscard]] std::deque<Message>& queue(Rank from, Rank to);
  [[nodiscard]] Times times(std::size_t bytes) const;
  // When the last byte arrives of what may be injected from `earliest` on.
  static Picoseconds inject(Node& sender, Picoseconds earliest, const Times& times);
  void match(Message& message, Node& sender, const Node& receiver, const Times& times) const;

  Parameters parameters_;
  Fibers& fibers_;
  std::vector<Node> nodes_;
  std::vector<std::deque<Message>> queues_;
};

}  // namespace chiplog::sim
