// The way a rank waits for another: it polls, and from time to time yields its core.
#pragma once

#include <sched.h>

#include <chrono>
#include <cstdint>

namespace chiplog {

// The cost of one poll decides after how many polls a rank yields its core and reads the clock.
enum class LookCost {
  memory,       // a load: 65,536 looks, some ten microseconds
  library,      // a poll of a device or a library: 4,096
  system_call,  // 1,024
};

struct WaitPolicy {
  std::chrono::nanoseconds time_limit{};
  std::uint32_t looks = 1U << 16U;
  // The number of yields between two checks of whether waiting still makes sense.
  std::uint32_t rests_between_checks = 1;

  // `crowded` says that ranks outnumber cores: then a waiting rank gives its core away much sooner, because whom it
  // waits for may need it, and asks only now and then.
  [[nodiscard]] static constexpr WaitPolicy make(LookCost cost, bool crowded, std::chrono::nanoseconds time_limit) {
    const std::uint32_t rests = crowded ? 1U << 8U : 1U;
    switch (cost) {
      case LookCost::memory:
        return {time_limit, crowded ? 1U << 7U : 1U << 16U, rests};
      case LookCost::library:
        return {time_limit, crowded ? 1U << 5U : 1U << 12U, rests};
      case LookCost::system_call:
        break;  // the call itself gives a core away where ranks are crowded
    }
    return {time_limit, 1U << 10U, 1};
  }
};

// One wait, which starts with the first poll that finds nothing. It makes no system call before `looks` such polls.
class Wait {
 public:
  using Time = std::chrono::steady_clock::time_point;

  explicit Wait(const WaitPolicy& policy) : policy_(policy), looks_left_(policy.looks) {}

  // To be called after each look in vain: whether it is time to `rest`.
  [[nodiscard]] bool is_rest_due() {
    if (--looks_left_ != 0) [[likely]] {
      return false;
    }
    looks_left_ = policy_.looks;
    return true;
  }

  // Gives the core away. Whether the caller should ask if waiting still makes sense; the clock has been read then.
  [[gnu::noinline]] bool rest() {
    sched_yield();
    if (rests_++ % policy_.rests_between_checks != 0) return false;
    read_clock();
    return true;
  }

  // For waits that sleep instead of polling.
  void read_clock() {
    now_ = std::chrono::steady_clock::now();
    if (since_ == Time{}) since_ = last_ = now_;
  }

  // Uses the last reading of the clock.
  [[nodiscard]] Time now() const { return now_; }
  [[nodiscard]] bool is_late() const { return now_ - since_ >= policy_.time_limit; }
  // Whether `interval` has passed since the wait began and since this last said so.
  [[nodiscard]] bool has_passed(std::chrono::nanoseconds interval) {
    if (now_ - last_ < interval) return false;
    last_ = now_;
    return true;
  }

  // Something has come: the time limit counts from the next look in vain.
  void begin_again() { *this = Wait(policy_); }

 private:
  WaitPolicy policy_;
  std::uint32_t looks_left_;
  std::uint32_t rests_ = 0;
  Time since_{};
  Time now_{};
  Time last_{};
};

}  // namespace chiplog
