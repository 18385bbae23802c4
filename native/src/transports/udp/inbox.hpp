// Puts datagrams back in order and counts what happened to them on their way.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "transports/udp/datagram.hpp"

namespace chiplog::udp {

class Inbox {
 public:
  struct Kept {
    std::uint64_t message_bytes = 0;
    std::vector<std::byte> payload;
  };
  enum class Arrival { wanted, early, again };

  // A datagram with data has arrived. `wanted`: it is the next one to be taken, by a receive that has begun, and counts
  // as taken. `early`: it is to be kept. `again`: it was here before.
  Arrival arrive(const Header& header, bool receiving, Counters& counters) {
    const std::uint64_t number = header.number;
    std::uint8_t& attempt = attempts_[number % attempts_.size()];
    if (number < expected_ || kept_.contains(number)) {
      if (header.attempt == attempt && number + attempts_.size() >= expected_) ++counters.duplicated;
      return Arrival::again;
    }
    attempt = header.attempt;
    counters.lost += header.attempt;
    if (number >= horizon_) {
      horizon_ = number + 1;
    } else if (header.attempt == 0) {
      ++counters.reordered;
    }
    if (!receiving || number != taken_) return Arrival::early;
    ++expected_;
    ++taken_;
    pass_kept();
    return Arrival::wanted;
  }

  void keep(const Header& header, std::vector<std::byte> payload) {
    kept_bytes_ += payload.size();
    kept_[header.number] = {header.detail, std::move(payload)};
    pass_kept();
  }

  // True if the next datagram to be taken is here already.
  [[nodiscard]] bool has_next() const { return !kept_.empty() && kept_.begin()->first == taken_; }
  Kept take() {
    Kept next = std::move(kept_.begin()->second);
    kept_.erase(kept_.begin());
    kept_bytes_ -= next.payload.size();
    ++taken_;
    return next;
  }

  // All datagrams below this number have arrived, whether they were taken or not.
  [[nodiscard]] std::uint64_t expected() const { return expected_; }
  // Bit i: number expected() + 1 + i has arrived.
  [[nodiscard]] std::uint64_t arrived_behind() const {
    std::uint64_t bits = 0;
    for (auto one = kept_.upper_bound(expected_); one != kept_.end() && one->first - expected_ <= 64; ++one) {
      bits |= std::uint64_t{1} << (one->first - expected_ - 1);
    }
    return bits;
  }
  [[nodiscard]] std::size_t kept_bytes() const { return kept_bytes_; }

 private:
  void pass_kept() {
    if (kept_.empty()) return;
    for (auto one = kept_.find(expected_); one != kept_.end() && one->first == expected_; ++one) ++expected_;
  }

  std::uint64_t expected_ = 0;
  std::uint64_t taken_ = 0;
  std::uint64_t horizon_ = 0;  // above all that has arrived
  std::map<std::uint64_t, Kept> kept_;
  std::size_t kept_bytes_ = 0;
  // The transmission with which a recent datagram came first.
  std::array<std::uint8_t, 4096> attempts_{};
};

}  // namespace chiplog::udp
