// Collects work requests that are handed to the device by one call.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "transports/verbs/library.hpp"

namespace chiplog::verbs {

class PostList {
 public:
  PostList(std::size_t most, std::size_t inline_bytes)
      : inline_bytes_(inline_bytes), requests_(most), parts_(most), payloads_(most * inline_bytes) {}

  [[nodiscard]] bool empty() const { return count_ == 0; }
  [[nodiscard]] bool full() const { return count_ == requests_.size(); }

  // The request's payload is where it says; that of an inline one is copied, because it may change before it is posted.
  void add(const ibv_send_wr& request) {
    ibv_send_wr& kept = requests_[count_];
    kept = request;
    if (request.num_sge > 0) {
      parts_[count_] = *request.sg_list;
      kept.sg_list = &parts_[count_];
      if ((request.send_flags & IBV_SEND_INLINE) != 0) keep_payload(parts_[count_]);
    }
    if (count_ > 0) requests_[count_ - 1].next = &kept;
    ++count_;
  }

  // Returns all requests, linked, and leaves the list empty. The last one's completion stands for those before it.
  ibv_send_wr* take() {
    ibv_send_wr& last = requests_[count_ - 1];
    last.next = nullptr;
    last.send_flags |= IBV_SEND_SIGNALED;
    count_ = 0;
    return requests_.data();
  }

 private:
  void keep_payload(ibv_sge& part) {
    std::byte* copy = payloads_.data() + count_ * inline_bytes_;
    std::memcpy(copy, reinterpret_cast<const std::byte*>(part.addr), part.length);
    part.addr = reinterpret_cast<std::uintptr_t>(copy);
  }

  std::size_t inline_bytes_;
  std::vector<ibv_send_wr> requests_;
  std::vector<ibv_sge> parts_;
  std::vector<std::byte> payloads_;
  std::size_t count_ = 0;
};

}  // namespace chiplog::verbs
