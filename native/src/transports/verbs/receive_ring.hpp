// Receives that are posted before their messages come, and the messages that lie in them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "transports/verbs/memory.hpp"
#include "transports/verbs/queue_pair.hpp"

namespace chiplog::verbs {

// A message that the caller has not taken yet.
struct Arrival {
  std::uint32_t slot = 0;
  std::uint32_t bytes = 0;
  bool is_read_request = false;
};

class ReceiveRing {
 public:
  // Marks the work requests of receives among those of one completion queue.
  static constexpr std::uint64_t mark = std::uint64_t{1} << 63U;

  // `headroom_bytes` is what the network puts in front of a payload. The ring goes after the queue that it is given to.
  ReceiveRing(const Device& device, std::uint32_t slots, std::size_t headroom_bytes, std::size_t payload_bytes)
      : headroom_bytes_(headroom_bytes),
        slot_bytes_(headroom_bytes + payload_bytes),
        memory_(device, slots * slot_bytes_),
        arrivals_(slots) {}

  // Posts all receives.
  void give_to(QueuePair& queue) {
    queue_ = &queue;
    for (std::uint32_t slot = 0; slot < arrivals_.size(); ++slot) post(slot);
  }

  [[nodiscard]] std::byte* payload(std::uint32_t slot) { return memory_.data() + slot * slot_bytes_ + headroom_bytes_; }
  [[nodiscard]] std::size_t headroom_bytes() const { return headroom_bytes_; }

  // The slot may receive again.
  void post(std::uint32_t slot) {
    ibv_sge part = memory_.part(slot * slot_bytes_, slot_bytes_);
    ibv_recv_wr request{};
    request.wr_id = mark | slot;
    request.sg_list = &part;
    request.num_sge = 1;
    queue_->post(&request);
  }

  // The same, but not before the next `post_spent`, so that an answer goes out first. One at a time.
  void spend(std::uint32_t slot) { spent_ = slot; }
  void post_spent() {
    if (spent_) post(*std::exchange(spent_, std::nullopt));
  }

  // In the order of arrival; there is room for one a slot.
  void push(const Arrival& arrival) { arrivals_[last_++ % arrivals_.size()] = arrival; }
  [[nodiscard]] bool empty() const { return first_ == last_; }
  Arrival pop() { return arrivals_[first_++ % arrivals_.size()]; }

 private:
  QueuePair* queue_ = nullptr;
  std::size_t headroom_bytes_;
  std::size_t slot_bytes_;
  RegisteredMemory memory_;
  std::vector<Arrival> arrivals_;
  std::optional<std::uint32_t> spent_;
  std::size_t first_ = 0;
  std::size_t last_ = 0;
};

}  // namespace chiplog::verbs
