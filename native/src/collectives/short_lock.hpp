// A lock of what is done in some tens of instructions.
#pragma once

#include <atomic>
#include <chrono>
#include <thread>

#include "core/cache_lines.hpp"

namespace chiplog::collectives {

// Without a call: the code of std::mutex is in another library and seldom used, and to fetch it takes longer than what
// is guarded here. Whoever holds it calls neither the MPI nor the program.
class ShortLock {
 public:
  void lock() {
    for (int looks = 0; held_.test_and_set(std::memory_order_acquire); ++looks) {
      if (looks < most_looks) {
        relax();
      } else {  // its holder is without a core; this one may be the core that it needs
        std::this_thread::sleep_for(pause);
      }
    }
  }
  void unlock() { held_.clear(std::memory_order_release); }

 private:
  static constexpr int most_looks = 100;
  static constexpr std::chrono::microseconds pause{20};

  std::atomic_flag held_;
};

}  // namespace chiplog::collectives
