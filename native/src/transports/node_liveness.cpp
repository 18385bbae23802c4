#include "transports/node_liveness.hpp"

#include <algorithm>

namespace chiplog {

NodeLiveness::NodeLiveness(Bootstrap& bootstrap)
    : nodes_(find_nodes(bootstrap)),
      here_(node_of(nodes_, bootstrap.rank())),
      memory_(bootstrap, nodes_[here_].ranks.front(), 0),
      // A rank that holds no place would seem gone.
      shares_(std::ranges::all_of(nodes_[here_].ranks, [this](Rank rank) {
        return memory_.failures()[static_cast<std::size_t>(rank)].empty();
      })) {}

bool NodeLiveness::lives(Rank peer) const { return !shares_ || node_of(nodes_, peer) != here_ || memory_.lives(peer); }

}  // namespace chiplog
