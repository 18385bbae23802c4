// Message memory for MPI.
#pragma once

#include <cstddef>
#include <cstring>
#include <memory>
#include <new>

namespace chiplog {

// The memory is page-aligned, and all its pages have been touched.
class MpiBuffer {
 public:
  explicit MpiBuffer(std::size_t bytes)
      : bytes_(static_cast<std::byte*>(::operator new(bytes == 0 ? 1 : bytes, alignment))), capacity_(bytes) {
    std::memset(bytes_.get(), 0, bytes);
  }

  [[nodiscard]] std::byte* data() { return bytes_.get(); }
  [[nodiscard]] std::size_t capacity() const { return capacity_; }

 private:
  static constexpr std::align_val_t alignment{4096};
  struct Delete {
    void operator()(std::byte* bytes) const { ::operator delete(bytes, alignment); }
  };

  std::unique_ptr<std::byte, Delete> bytes_;
  std::size_t capacity_ = 0;
};

}  // namespace chiplog
