// Datagrams that were sent and not yet acknowledged, ready to be sent again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <vector>

#include "transports/udp/datagram.hpp"

namespace chiplog::udp {

// Sending a datagram into an outbox with room neither allocates nor touches more memory than the datagram's own: an
// empty outbox begins at its first byte again.
class Outbox {
 public:
  struct Entry {
    std::size_t begin = 0;
    std::size_t bytes = 0;
    std::uint64_t question = 0;  // the latest one asked before it was last sent
  };

  // At most `window_bytes` of the receiver's buffer are in use, by `buffer_charge`; one datagram always fits.
  Outbox(std::size_t window_bytes, std::size_t max_datagram_bytes)
      : window_bytes_(window_bytes),
        memory_bytes_(window_bytes + 3 * max_datagram_bytes),
        memory_(new std::byte[memory_bytes_]),
        entries_(max_entries) {}

  [[nodiscard]] bool fits(std::size_t datagram_bytes) const {
    return empty() || (next_ - first_ < max_entries && charged_ + buffer_charge(datagram_bytes) <= window_bytes_);
  }
  [[nodiscard]] bool empty() const { return first_ == next_; }
  [[nodiscard]] std::uint64_t first() const { return first_; }
  [[nodiscard]] std::uint64_t next() const { return next_; }
  [[nodiscard]] std::size_t charged_bytes() const { return charged_; }
  [[nodiscard]] std::size_t window_bytes() const { return window_bytes_; }

  // Keeps a datagram that fits, under the number next(). The bytes stay where they are until it is acknowledged.
  std::span<std::byte> keep(const Header& header, const std::byte* payload, std::size_t payload_bytes,
                            std::uint64_t question) {
    const std::size_t bytes = sizeof header + payload_bytes;
    if (empty() || end_ + bytes > memory_bytes_) end_ = 0;
    entry(next_) = {end_, bytes, question};
    std::byte* const at = memory_.get() + end_;
    std::memcpy(at, &header, sizeof header);
    if (payload_bytes > 0) std::memcpy(at + sizeof header, payload, payload_bytes);
    end_ += bytes;
    charged_ += buffer_charge(bytes);
    ++next_;
    return {at, bytes};
  }

  // Notes that all datagrams below `expected` have arrived. Returns true if that is news.
  bool acknowledge(std::uint64_t expected) {
    if (expected <= first_ || expected > next_) return false;
    for (; first_ < expected; ++first_) charged_ -= buffer_charge(entry(first_).bytes);
    return true;
  }

  [[nodiscard]] Entry& entry(std::uint64_t number) { return entries_[number % max_entries]; }
  [[nodiscard]] std::span<std::byte> bytes_of(const Entry& kept) { return {memory_.get() + kept.begin, kept.bytes}; }

 private:
  static constexpr std::size_t max_entries = 1024;

  std::size_t window_bytes_;
  std::size_t memory_bytes_;
  std::unique_ptr<std::byte[]> memory_;
  std::vector<Entry> entries_;
  std::uint64_t first_ = 0;
  std::uint64_t next_ = 0;
  std::size_t end_ = 0;
  std::size_t charged_ = 0;
};

}  // namespace chiplog::udp
