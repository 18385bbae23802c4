// The ranks of a node share its injection rate, the R_N of the max-rate model.
//
// A message to another node occupies the node's link for (s-1)/R_N; messages take turns in the order in which their
// sends start. A message has left when the link has sent it and its NIC's (s-1) G have passed: k ranks that
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

  // The delay of a message compared to what its NIC alone would take.
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
