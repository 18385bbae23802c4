#include "transports/mpi/window.hpp"

#include <algorithm>
#include <cstring>
#include <exception>
#include <string>
#include <string_view>
#include <utility>

#include "bootstrap/mpi.hpp"
#include "chiplog/error.hpp"

namespace chiplog {
namespace {

void check_call(int code, std::string_view what) {
  if (code != MPI_SUCCESS) throw_mpi_error(code, what, MPI_PROC_NULL);
}

}  // namespace

MpiWindow::MpiWindow(MPI_Comm communicator, std::size_t bytes, MpiCompletion completion)
    : capacity_(bytes), completion_(completion) {
  const auto allocated = static_cast<MPI_Aint>(std::max<std::size_t>(bytes, 1));
  check_call(MPI_Win_allocate(allocated, 1, MPI_INFO_NULL, communicator, &data_, &window_), "MPI_Win_allocate");
  MPI_Win_set_errhandler(window_, MPI_ERRORS_RETURN);
  if (completion == MpiCompletion::flush) check_call(MPI_Win_lock_all(MPI_MODE_NOCHECK, window_), "MPI_Win_lock_all");
  std::memset(data_, 0, bytes);
  // Nobody writes before all are zeroed.
  if (completion == MpiCompletion::flush) {
    check_call(MPI_Win_sync(window_), "MPI_Win_sync");
    check_call(MPI_Barrier(communicator), "MPI_Barrier");
  } else {
    check_call(MPI_Win_fence(MPI_MODE_NOPRECEDE, window_), "MPI_Win_fence");
  }
}

MpiWindow::~MpiWindow() { free(); }

MpiWindow::MpiWindow(MpiWindow&& other) noexcept
    : window_(std::exchange(other.window_, MPI_WIN_NULL)),
      data_(other.data_),
      capacity_(other.capacity_),
      completion_(other.completion_) {}

MpiWindow& MpiWindow::operator=(MpiWindow&& other) noexcept {
  if (this != &other) {
    free();
    window_ = std::exchange(other.window_, MPI_WIN_NULL);
    data_ = other.data_;
    capacity_ = other.capacity_;
    completion_ = other.completion_;
  }
  return *this;
}

void MpiWindow::free() {
  if (window_ == MPI_WIN_NULL || std::uncaught_exceptions() > 0) return;
  if (completion_ == MpiCompletion::flush) MPI_Win_unlock_all(window_);
  MPI_Win_free(&window_);
}

}  // namespace chiplog
