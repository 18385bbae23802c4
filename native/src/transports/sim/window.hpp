// Memory of a simulated process that the others reach by one-sided operations.
#pragma once

#include <cstddef>
#include <memory>

namespace chiplog::sim {

class SimWindow {
 public:
  explicit SimWindow(std::size_t bytes) : bytes_(bytes), data_(new std::byte[bytes]{}) {}
  // The number of this window in its process. All processes make their windows in the same order.
  std::size_t number = 0;
  [[nodiscard]] std::byte* data() { return data_.get(); }
  [[nodiscard]] std::size_t capacity() const { return bytes_; }

 private:
  std::size_t bytes_;
  std::unique_ptr<std::byte[]> data_;
};

}  // namespace chiplog::sim
