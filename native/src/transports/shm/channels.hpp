// The channels between this rank and all others.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <vector>

#include "chiplog/bootstrap.hpp"
#include "transports/rank_memory.hpp"
#include "transports/shm/channel.hpp"
#include "transports/shm/exchange.hpp"
#include "transports/watch.hpp"

namespace chiplog::shm {

class Channels {
 public:
  // Collective. `ring_bytes` is a power of two. Throws Error on all ranks if one of them is on another host.
  Channels(Bootstrap& bootstrap, std::size_t ring_bytes, std::chrono::nanoseconds time_limit);

  [[nodiscard]] Sender& to(Rank peer) { return senders_[static_cast<std::size_t>(peer)]; }
  [[nodiscard]] Receiver& from(Rank peer) { return receivers_[static_cast<std::size_t>(peer)]; }
  // A message to `peer` and one from it at the same time; returns the length of the latter. `fetch` is as of
  // Receiver::recv.
  template <class Fetch>
  std::size_t exchange(Rank peer, const std::byte* out, std::size_t bytes, std::byte* in, std::size_t capacity_bytes,
                       Fetch fetch) {
    if (bytes <= inline_bytes) {
      to(peer).send(out, bytes);
      return from(peer).recv(in, capacity_bytes, to(peer), fetch);
    }
    IncomingMessage message{.to = in, .capacity_bytes = capacity_bytes};
    shm::exchange(to(peer), {.from = out, .bytes = bytes}, from(peer), message, *watch_, peer, fetch);
    return message.bytes;
  }
  // Other waits use it to notice the loss of a rank.
  [[nodiscard]] Watch& watch() { return *watch_; }

 private:
  std::unique_ptr<RankMemory> memory_;
  std::unique_ptr<Watch> watch_;
  // There is one for each rank; that of this rank is unused.
  std::vector<Sender> senders_;
  std::vector<Receiver> receivers_;
};

}  // namespace chiplog::shm
