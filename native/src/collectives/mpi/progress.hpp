// The MPI's own work while ranks wait in memory that the MPI knows nothing of.
#pragma once

#include <mpi.h>

#include <atomic>
#include <chrono>

namespace chiplog::collectives {

// Communicators that MPI_Comm_idup makes get their numbers while the program does something else. In Open MPI (4.1,
// also 5.0) several pending ones can end with each other's number on some ranks, and the program hangs (open-mpi/ompi
// #2025). That needs ranks that let the MPI work while others don't, which is what waiting in memory makes frequent. So
// for a while after a process has called it, no communicator of its gets a barrier in memory, and in those that have
// one it lets the MPI work seldom.
class PendingNumbers {
 public:
  using Clock = std::chrono::steady_clock;

  static void begin() { begun_.store(Clock::now(), std::memory_order_relaxed); }
  static bool are_likely() {
    const Clock::time_point begun = begun_.load(std::memory_order_relaxed);
    return begun != never && Clock::now() - begun < most_likely_over;
  }

 private:
  static constexpr Clock::time_point never{};
  static constexpr std::chrono::seconds most_likely_over{1};

  static inline std::atomic<Clock::time_point> begun_{never};
};

// A request that nothing completes: whoever tests it lets the MPI work. To probe a communicator of this process alone
// would not do, since MPICH then looks at messages to itself only.
// It is made when it is first needed.
class Progress {
 public:
  Progress() = default;
  ~Progress() {
    if (request_ == MPI_REQUEST_NULL) return;
    PMPI_Grequest_complete(request_);
    PMPI_Wait(&request_, MPI_STATUS_IGNORE);
  }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // MPI_SUCCESS, or the MPI's error.
  int make() {
    if (request_ == MPI_REQUEST_NULL) start();
    int completed = 0;
    return PMPI_Test(&request_, &completed, MPI_STATUS_IGNORE);
  }

 private:
  void start() {
    const auto query = [](void*, MPI_Status*) -> int { return MPI_SUCCESS; };
    const auto free = [](void*) -> int { return MPI_SUCCESS; };
    const auto cancel = [](void*, int) -> int { return MPI_SUCCESS; };
    PMPI_Grequest_start(query, free, cancel, nullptr, &request_);
  }

  MPI_Request request_ = MPI_REQUEST_NULL;
};

// That of one wait.
class ProgressOfWait {
 public:
  explicit ProgressOfWait(Progress* progress) : progress_(progress) {}

  // As `make`.
  int operator()() {
    if (PendingNumbers::are_likely() && !is_due()) return MPI_SUCCESS;
    return progress_->make();
  }

 private:
  using Clock = PendingNumbers::Clock;
  static constexpr std::chrono::milliseconds seldom{1};  // most barriers are over by then

  bool is_due() {
    const Clock::time_point now = Clock::now();
    if (since_ == Clock::time_point{}) since_ = now;
    if (now - since_ < seldom) return false;
    since_ = now;
    return true;
  }

  Progress* progress_;
  Clock::time_point since_{};
};

}  // namespace chiplog::collectives
