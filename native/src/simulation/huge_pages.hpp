// Arrays that are read at random places are put in huge pages where the kernel offers them. With small pages most reads
// would wait for the page table, and the first access to each page for the kernel.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <new>
#include <vector>

namespace chiplog::simulation {

template <class T>
struct HugePages {
  using value_type = T;

  HugePages() = default;
  template <class U>
  explicit HugePages(const HugePages<U>& /*other*/) noexcept {}

  [[nodiscard]] T* allocate(std::size_t count) {
    const std::size_t bytes = count * sizeof(T);
    if (bytes < page_bytes) return static_cast<T*>(::operator new(bytes));
    void* memory = ::operator new(bytes, std::align_val_t{page_bytes});
#ifdef MADV_HUGEPAGE
    (void)madvise(memory, bytes, MADV_HUGEPAGE);  // a wish: small pages do, too
#endif
    return static_cast<T*>(memory);
  }
  void deallocate(T* memory, std::size_t count) noexcept {
    if (count * sizeof(T) < page_bytes) return ::operator delete(memory);
    ::operator delete(memory, std::align_val_t{page_bytes});
  }
  bool operator==(const HugePages&) const = default;

 private:
  static constexpr std::size_t page_bytes = std::size_t{1} << 21;
};

template <class T>
using LargeVector = std::vector<T, HugePages<T>>;

}  // namespace chiplog::simulation
