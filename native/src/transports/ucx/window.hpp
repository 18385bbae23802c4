// Memory of this rank that the others reach through UCX.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "chiplog/bootstrap.hpp"
#include "chiplog/remote_memory.hpp"
#include "core/failures.hpp"
#include "transports/ucx/network.hpp"

namespace chiplog {

// UCX allocates it, since that is the memory which ranks of one host can map.
class UcxWindow {
 public:
  // Where the window of a peer is and the key to it.
  struct Remote {
    std::uint64_t address = 0;
    ucp_rkey_h key = nullptr;
  };

  // Collective. The memory is zeroed. Throws UsageError if the ranks ask for different sizes.
  UcxWindow(const ucx::Network& network, Bootstrap& bootstrap, std::size_t bytes);

  [[nodiscard]] std::byte* data() const { return data_; }
  [[nodiscard]] std::size_t capacity() const { return capacity_; }

  // The address of `offset` in the window of `peer`. Throws Error unless `bytes` are there: what UCX does outside is
  // undefined.
  [[nodiscard]] Remote at(Rank peer, std::size_t offset, std::size_t bytes) const {
    if (offset > capacity_ || bytes > capacity_ - offset) [[unlikely]] {
      throw_outside_window(peer, offset, bytes, capacity_);
    }
    const auto& key = keys_[static_cast<std::size_t>(peer)];
    return {addresses_[static_cast<std::size_t>(peer)] + offset, key.get()};
  }

 private:
  struct Unmap {
    const ucx::Network* network;
    void operator()(ucp_mem_h memory) const { network->library().mem_unmap(network->context(), memory); }
  };
  struct DestroyKey {
    const ucx::Network* network;
    void operator()(ucp_rkey_h key) const { network->library().rkey_destroy(key); }
  };
  using Memory = std::unique_ptr<std::remove_pointer_t<ucp_mem_h>, Unmap>;
  using Key = std::unique_ptr<std::remove_pointer_t<ucp_rkey_h>, DestroyKey>;

  Memory memory_;
  std::byte* data_ = nullptr;
  std::size_t capacity_ = 0;
  // There is one for each rank, without a key for this rank's own.
  std::vector<std::uint64_t> addresses_;
  std::vector<Key> keys_;
};

static_assert(MemoryWindow<UcxWindow>);

}  // namespace chiplog
