// The peers with posted operations that have not been waited for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "chiplog/transport.hpp"

namespace chiplog {

// With it the cost of waiting depends on the operations posted, not on the number of connections.
class PostedTo {
 public:
  explicit PostedTo(int ranks) : is_in_(static_cast<std::size_t>(ranks)) { peers_.reserve(is_in_.size()); }

  void add(Rank peer) {
    std::uint8_t& is_in = is_in_[static_cast<std::size_t>(peer)];
    if (is_in != 0) return;
    is_in = 1;
    peers_.push_back(peer);
  }
  // Calls wait(peer) for each, once; a peer whose wait throws stays.
  template <class Wait>
  void wait_for_each(Wait wait) {
    while (!peers_.empty()) {
      const Rank peer = peers_.back();
      wait(peer);
      peers_.pop_back();
      is_in_[static_cast<std::size_t>(peer)] = 0;
    }
  }
  [[nodiscard]] const std::vector<Rank>& peers() const { return peers_; }

 private:
  std::vector<std::uint8_t> is_in_;
  std::vector<Rank> peers_;
};

}  // namespace chiplog
