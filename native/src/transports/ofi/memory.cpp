#include "transports/ofi/memory.hpp"

#include <sys/mman.h>

namespace chiplog::ofi {

Overflow::Overflow(std::size_t bytes) {
  if (bytes == 0) return;
  void* space = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (space == MAP_FAILED) return;
  data_ = space;
  capacity_ = bytes;
}

Overflow::~Overflow() {
  if (capacity_ > 0) munmap(data_, capacity_);
}

}  // namespace chiplog::ofi
