// Memory of this rank that the others reach by one-sided MPI.
#pragma once

#include <mpi.h>

#include <cstddef>

#include "chiplog/transport.hpp"
#include "core/failures.hpp"

namespace chiplog {

// How operations on a window are completed.
enum class MpiCompletion {
  flush,  // by each rank for itself, in one passive epoch (MPI_Win_lock_all) from beginning to end
  fence,  // by all ranks together
};

// Allocated by MPI.
class MpiWindow {
 public:
  // Collective. The memory is zeroed.
  MpiWindow(MPI_Comm communicator, std::size_t bytes, MpiCompletion completion);
  // Collective, unless an error is on its way.
  ~MpiWindow();
  MpiWindow(MpiWindow&& other) noexcept;
  MpiWindow& operator=(MpiWindow&& other) noexcept;

  [[nodiscard]] std::byte* data() const { return data_; }
  [[nodiscard]] std::size_t capacity() const { return capacity_; }
  [[nodiscard]] MPI_Win get() const { return window_; }

  // Throws Error unless `bytes` are there, because not every MPI checks it.
  void check(Rank peer, std::size_t offset, std::size_t bytes) const {
    if (offset > capacity_ || bytes > capacity_ - offset) [[unlikely]] {
      throw_outside_window(peer, offset, bytes, capacity_);
    }
  }

 private:
  void free();

  MPI_Win window_ = MPI_WIN_NULL;
  std::byte* data_ = nullptr;
  std::size_t capacity_ = 0;
  MpiCompletion completion_ = MpiCompletion::flush;
};

}  // namespace chiplog
