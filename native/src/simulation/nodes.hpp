// Ranks of a node share the rate at which it sends to others: max-rate's R_N.
//
// Each message to another node takes the node's link for (s-1)/R_N, one after the other in the order in which the sends
// start. The message is out when the link has sent it, or after its NIC's (s-1) G, whichever is later: k ranks that
// send n bytes at once are done after max(k n/R_N, n G).
//
// Source: W. Gropp, L. Olson, P. Samfass, "Modeling MPI communication performance on SMP nodes: is it time to retire
// the ping pong test", EuroMPI 2016.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "simulation/costs.hpp"
#include "simulation/time.hpp"

namespace chiplog::simulation {

class Nodes {
 public:
  // Rank r is on node r / `ranks_per_node`; 0 ranks stand for no shared rate.
  Nodes(std::uint32_t ranks, std::uint32_t ranks_per_node, std::int64_t attoseconds_per_byte)
      : ranks_per_node_(ranks_per_node), attoseconds_per_byte_(attoseconds_per_byte) {
    if (ranks_per_node > 0) taken_until_.resize((ranks - 1) / ranks_per_node + 1);
  }

  // How much later than its NIC alone would send it a message is out.
  [[nodiscard]] Picoseconds delay(std::uint32_t from, std::uint32_t to, std::uint64_t bytes, Picoseconds now,
                                  Picoseconds own_wire) {
    if (ranks_per_node_ == 0 || from / ranks_per_node_ == to / ranks_per_node_) return 0;
    Picoseconds& taken_until = taken_until_[from / ranks_per_node_];
    taken_until = add(std::max(taken_until, now), bytes_after_first(bytes, attoseconds_per_byte_));
    return std::max<Picoseconds>(0, taken_until - now - own_wire);
  }

 private:
  std::uint32_t ranks_per_node_;
  std::int64_t attoseconds_per_byte_;
  std::vector<Picoseconds> taken_until_;  // by node
};

}  // namespace chiplog::simulation
