// Delays datagrams so that a rate is not exceeded.
#pragma once

#include <algorithm>
#include <chrono>
#include <thread>

namespace chiplog::udp {

class Pacer {
 public:
  // 0 means no limit.
  Pacer(double bytes_per_second, double messages_per_second)
      : byte_ns_(bytes_per_second > 0.0 ? 1e9 / bytes_per_second : 0.0),
        message_ns_(messages_per_second > 0.0 ? 1e9 / messages_per_second : 0.0) {}

  void before_message() {
    if (message_ns_ > 0.0) [[unlikely]] {
      wait_for(next_message_, message_ns_);
    }
  }
  void before_datagram(std::size_t bytes) {
    if (byte_ns_ > 0.0) [[unlikely]] {
      wait_for(next_datagram_, byte_ns_ * static_cast<double>(bytes));
    }
  }

 private:
  using Clock = std::chrono::steady_clock;

  static void wait_for(Clock::time_point& next, double spacing_ns) {
    constexpr auto late_wake = std::chrono::microseconds(200);
    if (next - Clock::now() > late_wake) std::this_thread::sleep_until(next - late_wake);
    auto now = Clock::now();
    while (now < next) now = Clock::now();
    next = now + std::chrono::nanoseconds(static_cast<std::int64_t>(spacing_ns));
  }

  double byte_ns_;
  double message_ns_;
  Clock::time_point next_message_{};
  Clock::time_point next_datagram_{};
};

}  // namespace chiplog::udp
