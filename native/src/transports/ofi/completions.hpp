// Reads both completion queues; that is also what lets providers with manual progress work.
#pragma once

#include <rdma/fi_eq.h>
#include <rdma/fi_errno.h>

#include <array>
#include <vector>

#include "transports/ofi/operation.hpp"

namespace chiplog::ofi {

class Completions {
 public:
  Completions(fid_cq* transmits, fid_cq* receives, int ranks)
      : transmits_(transmits), receives_(receives), immediates_(static_cast<std::size_t>(ranks)) {}

  // The receive whose end `received` tells; one at a time.
  void expect(Rank source) {
    receive_.peer = source;
    receive_.done = false;
  }
  [[nodiscard]] Slot& receive() { return receive_; }
  [[nodiscard]] std::size_t received_bytes() const { return received_bytes_; }
  [[nodiscard]] std::uint64_t& immediates_of(Rank peer) { return immediates_[static_cast<std::size_t>(peer)]; }

  // These throw what libfabric reports as failed.
  void poll_transmits() {
    std::array<fi_cq_entry, 16> entries;
    const ssize_t count = fi_cq_read(transmits_, entries.data(), entries.size());
    if (count > 0) {
      for (ssize_t i = 0; i < count; ++i) {
        static_cast<Slot*>(entries[static_cast<std::size_t>(i)].op_context)->done = true;
      }
    } else if (count != -FI_EAGAIN) [[unlikely]] {
      throw_reported(transmits_, count);
    }
  }

  void poll_receives() {
    fi_cq_data_entry entry;
    const ssize_t count = fi_cq_read(receives_, &entry, 1);
    if (count > 0) {
      if (entry.op_context == &receive_) [[likely]] {
        receive_.done = true;
        received_bytes_ = entry.len;
      } else if ((entry.flags & FI_REMOTE_CQ_DATA) != 0) {
        count_immediate(entry.data);
      }
    } else if (count != -FI_EAGAIN) [[unlikely]] {
      throw_reported(receives_, count);
    }
  }

 private:
  void count_immediate(std::uint64_t data) {
    if (data < immediates_.size()) ++immediates_[data];
  }
  [[noreturn]] void throw_reported(fid_cq* queue, ssize_t result);

  fid_cq* transmits_;
  fid_cq* receives_;
  Slot receive_{};
  std::size_t received_bytes_ = 0;
  // How many writes with an immediate have come from each rank and were not waited for yet.
  std::vector<std::uint64_t> immediates_;
};

}  // namespace chiplog::ofi
