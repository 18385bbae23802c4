// What a rank does while it waits for another one, busily.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>

#include "chiplog/bootstrap.hpp"
#include "chiplog/transport.hpp"

namespace chiplog {

// Whether the ranks of this host outnumber the cores that they may run on, all together. Collective.
[[nodiscard]] bool ranks_are_crowded(Bootstrap& bootstrap);

// How a waiting rank divides its time. One look costs what the transport's own progress costs.
struct WatchSettings {
  std::uint32_t idle_spins = 1U << 16U;    // looks before it asks whether waiting makes sense
  std::uint32_t crowded_spins = 1U << 7U;  // the same where ranks outnumber cores: then it soon yields its core
  // For which it goes on looking when waiting makes no sense any more: what a dead peer's kernel still delivers counts.
  std::chrono::nanoseconds grace{0};
};

// Spins without a system call; after a while looks up whether waiting still makes sense.
class Watch {
 public:
  // `lives` tells whether a rank's process still lives; it is called off the fast path only. `crowded` says that ranks
  // outnumber cores.
  Watch(std::function<bool(Rank)> lives, std::chrono::nanoseconds time_limit, bool crowded,
        const WatchSettings& settings = {})
      : lives_(std::move(lives)),
        time_limit_(time_limit),
        grace_(settings.grace),
        crowded_(crowded),
        spins_(crowded ? settings.crowded_spins : settings.idle_spins) {}

  void set_time_limit(std::chrono::nanoseconds time_limit) { time_limit_ = time_limit; }

  // How often to look before it is worth to ask whether waiting makes sense.
  [[nodiscard]] std::uint32_t spins() const { return spins_; }

  // Returns when `ready()`; throws PeerLost or TimedOut. What the peer did before it ended still counts.
  template <class Ready>
  void wait(Rank peer, Ready ready) {
    for (std::uint32_t spin = 0; spin < spins_; ++spin) {
      if (ready()) return;
    }
    wait_on(peer, ready);
  }

 private:
  enum class Finding { waits, lost, late };

  static constexpr std::uint32_t crowded_yields = 1U << 8U;

  template <class Ready>
  [[gnu::noinline]] void wait_on(Rank peer, Ready ready) {
    const auto since = std::chrono::steady_clock::now();
    for (std::uint32_t looks = 0;; ++looks) {
      const Finding finding = look(peer, since, looks);
      for (std::uint32_t spin = 0; spin < spins_; ++spin) {
        if (ready()) return;
      }
      if (finding == Finding::waits) continue;
      const auto last = std::chrono::steady_clock::now() + grace_;
      while (std::chrono::steady_clock::now() < last) {
        if (ready()) return;
      }
      throw_finding(finding, peer);
    }
  }

  Finding look(Rank peer, std::chrono::steady_clock::time_point since, std::uint32_t looks) const;
  [[noreturn]] void throw_finding(Finding finding, Rank peer) const;

  std::function<bool(Rank)> lives_;
  std::chrono::nanoseconds time_limit_;
  std::chrono::nanoseconds grace_;
  bool crowded_;
  std::uint32_t spins_;
};

}  // namespace chiplog
