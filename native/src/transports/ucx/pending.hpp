// Requests that UCX has taken and not finished yet.
#pragma once

#include <array>
#include <cstddef>
#include <span>

#include "chiplog/transport.hpp"

namespace chiplog::ucx {

struct PendingRequest {
  void* request;
  Rank peer;
};

class Pending {
 public:
  static constexpr std::size_t capacity = 1024;

  [[nodiscard]] bool full() const { return count_ == capacity; }
  [[nodiscard]] std::size_t count() const { return count_; }
  void add(void* request, Rank peer) { requests_[count_++] = {request, peer}; }
  // Returns all requests; none is pending afterwards.
  [[nodiscard]] std::span<const PendingRequest> take() {
    const std::span<const PendingRequest> all(requests_.data(), count_);
    count_ = 0;
    return all;
  }

 private:
  std::array<PendingRequest, capacity> requests_{};
  std::size_t count_ = 0;
};

}  // namespace chiplog::ucx
