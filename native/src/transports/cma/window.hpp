// Memory of this rank that the others reach through the kernel.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "chiplog/bootstrap.hpp"
#include "chiplog/remote_memory.hpp"
#include "core/failures.hpp"
#include "transports/cma/process_memory.hpp"

namespace chiplog::cma {

// Whole pages of its own, so that what comes after its end hits nothing else.
class Window {
 public:
  // Collective. The memory is zeroed. Throws UsageError if the ranks ask for different sizes.
  Window(Bootstrap& bootstrap, std::size_t bytes);

  [[nodiscard]] std::byte* data() const { return memory_.get(); }
  [[nodiscard]] std::size_t capacity() const { return bytes_; }

  // The address of `offset` in the window of `peer`. Throws Error unless `bytes` are there.
  [[nodiscard]] Address at(Rank peer, std::size_t offset, std::size_t bytes) const {
    if (offset > bytes_ || bytes > bytes_ - offset) [[unlikely]] {
      throw_outside_window(peer, offset, bytes, bytes_);
    }
    return addresses_[static_cast<std::size_t>(peer)] + offset;
  }

 private:
  struct Unmap {
    std::size_t bytes = 0;
    void operator()(std::byte* memory) const;
  };

  std::size_t bytes_;
  std::unique_ptr<std::byte, Unmap> memory_;
  // There is one for each rank.
  std::vector<Address> addresses_;
};

static_assert(MemoryWindow<Window>);

}  // namespace chiplog::cma
