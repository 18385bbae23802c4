// What a rank does while libfabric has nothing for it.
#pragma once

#include <chrono>
#include <cstdint>

#include "chiplog/bootstrap.hpp"
#include "transports/node_liveness.hpp"

namespace chiplog::ofi {

// Asks again and again; now and then looks whether the peer still lives and whether the time is up.
class Patience {
 public:
  // Collective.
  Patience(Bootstrap& bootstrap, std::chrono::nanoseconds time_limit);

  void set_time_limit(std::chrono::nanoseconds time_limit) { time_limit_ = time_limit; }
  // How often to ask before it is worth to look around.
  [[nodiscard]] std::uint32_t spins() const { return spins_; }

  // Returns when `ready()`; throws PeerLost or TimedOut. What the peer did before it ended still counts.
  template <class Ready>
  void wait(Rank peer, Ready ready) {
    const auto since = std::chrono::steady_clock::now();
    for (std::uint32_t looks = 0;; ++looks) {
      for (std::uint32_t spin = 0; spin < spins_; ++spin) {
        if (ready()) return;
      }
      const Finding finding = look(peer, since, looks);
      if (finding == Finding::waits) continue;
      const auto last = std::chrono::steady_clock::now() + grace;
      while (std::chrono::steady_clock::now() < last) {
        if (ready()) return;
      }
      throw_finding(finding, peer);
    }
  }

 private:
  enum class Finding { waits, lost, late };

  static constexpr std::uint32_t idle_spins = 1U << 12U;
  static constexpr std::uint32_t crowded_spins = 1U << 5U;
  static constexpr std::uint32_t crowded_looks = 1U << 8U;
  // Long enough for what a dead peer's kernel still delivers.
  static constexpr std::chrono::milliseconds grace{30};

  Finding look(Rank peer, std::chrono::steady_clock::time_point since, std::uint32_t looks) const;
  [[noreturn]] void throw_finding(Finding finding, Rank peer) const;

  NodeLiveness liveness_;
  std::chrono::nanoseconds time_limit_;
  std::uint32_t spins_;
};

}  // namespace chiplog::ofi
