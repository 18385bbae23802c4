#include "transports/sim/in_process_bootstrap.hpp"

#include <utility>

namespace chiplog::sim {

std::string InProcessBootstrap::take(std::deque<std::string>& blobs) {
  fibers_.wait_until([&] { return !blobs.empty(); });
  std::string blob = std::move(blobs.front());
  blobs.pop_front();
  return blob;
}

// Rank 0 waits until its last broadcast was read, so that blobs don't pile up.
std::string InProcessBootstrap::broadcast(std::string_view blob) {
  if (rank_ != 0) return take(board_.from_root[static_cast<std::size_t>(rank_)]);
  fibers_.wait_until([&] {
    for (const auto& unread : board_.from_root) {
      if (!unread.empty()) return false;
    }
    return true;
  });
  for (std::size_t rank = 1; rank < board_.from_root.size(); ++rank) board_.from_root[rank].emplace_back(blob);
  return std::string(blob);
}

std::vector<std::string> InProcessBootstrap::gather(std::string_view blob) {
  board_.to_root[static_cast<std::size_t>(rank_)].emplace_back(blob);
  std::vector<std::string> blobs;
  if (rank_ != 0) return blobs;
  for (auto& arriving : board_.to_root) blobs.push_back(take(arriving));
  return blobs;
}

void InProcessBootstrap::barrier() {
  gather({});
  broadcast({});
}

}  // namespace chiplog::sim
