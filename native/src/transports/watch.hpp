// Waits busily for another rank, and notices if that rank is lost.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>

#include "chiplog/bootstrap.hpp"
#include "chiplog/transport.hpp"
#include "core/cache_lines.hpp"
#include "core/waiting.hpp"

namespace chiplog {

// True if the ranks of this host outnumber the cores that they may use together. Collective.
[[nodiscard]] bool ranks_are_crowded(Bootstrap& bootstrap);

// Waits for a peer without a system call, and after a while looks up whether waiting still makes sense.
class Watch {
 public:
  // `lives` tells whether a rank's process still lives; it is called off the fast path only. For `grace` a rank goes on
  // looking when waiting makes no sense any more: what a dead peer's kernel still delivers counts.
  Watch(std::function<bool(Rank)> lives, const WaitPolicy& policy, std::chrono::nanoseconds grace = {})
      : lives_(std::move(lives)), policy_(policy), grace_(grace) {}

  void set_time_limit(std::chrono::nanoseconds time_limit) { policy_.time_limit = time_limit; }

  // How often to look before it is worth to ask whether waiting makes sense.
  [[nodiscard]] std::uint32_t looks() const { return policy_.looks; }
  // The same where a look is a read of memory that ends before the next begins (`await_reads`), which takes as long as
  // about 16 that overlap.
  [[nodiscard]] std::uint32_t awaited_reads() const { return policy_.looks / 16; }

  // Returns when `ready()`; throws PeerLost or TimedOut. What the peer did before it ended still counts.
  template <class Ready>
  void wait(Rank peer, Ready ready) {
    for (std::uint32_t left = policy_.looks; left > 0; --left) {
      if (ready()) return;
    }
    wait_longer(peer, ready);
  }

  // The same where `ready` only reads memory that another core is about to write.
  template <class Ready>
  void wait_for_write(Rank peer, Ready ready) {
    for (std::uint32_t look = awaited_reads(); look > 0; --look) {
      if (ready()) return;
      await_reads();
    }
    wait_longer(peer, ready);
  }

 private:
  enum class Finding { waits, lost, late };

  template <class Ready>
  [[gnu::noinline]] void wait_longer(Rank peer, Ready ready) {
    Wait wait(policy_);
    for (;;) {
      const Finding finding = wait.rest() ? check(peer, wait) : Finding::waits;
      do {
        if (ready()) return;
      } while (!wait.is_rest_due());
      if (finding == Finding::waits) continue;
      const auto last = std::chrono::steady_clock::now() + grace_;
      while (std::chrono::steady_clock::now() < last) {
        if (ready()) return;
      }
      throw_finding(finding, peer);
    }
  }

  Finding check(Rank peer, const Wait& wait) const;
  [[noreturn]] void throw_finding(Finding finding, Rank peer) const;

  std::function<bool(Rank)> lives_;
  WaitPolicy policy_;
  std::chrono::nanoseconds grace_;
};

}  // namespace chiplog
