#include "transports/shm/channels.hpp"

#include "transports/shm/shared_memory.hpp"

namespace chiplog::shm {
namespace {

// Beyond this much memory pages come as messages need them.
constexpr std::size_t max_populated_bytes = std::size_t{256} << 20U;

}  // namespace

Channels::Channels(Bootstrap& bootstrap, std::size_t ring_bytes, std::chrono::nanoseconds time_limit) {
  const auto size = static_cast<std::size_t>(bootstrap.size());
  const auto self = static_cast<std::size_t>(bootstrap.rank());
  const std::size_t each_bytes = channel_bytes(ring_bytes);
  const std::size_t bytes = size * size * each_bytes;
  memory_ = share_memory(bootstrap, bytes);
  watch_ = std::make_unique<Watch>([memory = memory_.get()](Rank peer) { return memory->lives(peer); },
                                   WaitPolicy::make(LookCost::memory, ranks_are_crowded(bootstrap), time_limit));
  const auto channel = [&](std::size_t from, std::size_t to) -> Channel& {
    std::byte* begin = memory_->data() + (from * size + to) * each_bytes;
    if (from != to && bytes <= max_populated_bytes) NodeMemory::populate(begin, each_bytes);
    return *reinterpret_cast<Channel*>(begin);
  };
  for (std::size_t peer = 0; peer < size; ++peer) {
    const auto rank = static_cast<Rank>(peer);
    senders_.emplace_back(channel(self, peer), ring_bytes, rank, *watch_);
    receivers_.emplace_back(channel(peer, self), ring_bytes, rank, *watch_);
  }
}

}  // namespace chiplog::shm
