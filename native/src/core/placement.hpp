// Measures how fast the cores of ranks 0 and 1 see each other's flags, which reveals the placement state.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>

#include "chiplog/bootstrap.hpp"

namespace chiplog {

// Two flags, a cache line each, in memory that ranks 0 and 1 share. Unmapped when it goes.
class PlacementPage {
 public:
  // To be called before the ranks are forked. Null if the system gives no shared memory.
  static std::unique_ptr<PlacementPage> make_anonymous();
  // Among ranks that were launched: rank 0 makes it under a name that can't be guessed, rank 1 of the same host opens
  // it, and the name is gone before this returns. Every rank must call; null unless both have it.
  static std::unique_ptr<PlacementPage> agree(Bootstrap& bootstrap, bool ranks_share_host);

  ~PlacementPage();
  PlacementPage(const PlacementPage&) = delete;
  PlacementPage& operator=(const PlacementPage&) = delete;

  // The median round trip in nanoseconds on rank 0, nothing on rank 1 or if the peer doesn't answer in time. Ranks 0
  // and 1 call it at about the same time. Spins, but for at most about `patience` until the peer is there and 5 ms
  // from then on.
  std::optional<double> round_trip_ns(Rank rank, std::chrono::microseconds patience);

 private:
  struct Flags {
    alignas(128) std::atomic<std::uint64_t> ping{0};
    alignas(128) std::atomic<std::uint64_t> pong{0};
  };
  static_assert(std::atomic<std::uint64_t>::is_always_lock_free);

  explicit PlacementPage(void* memory);

  Flags* flags_;
  std::uint64_t calls_ = 0;
};

}  // namespace chiplog
