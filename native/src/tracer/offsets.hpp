// How far the clocks of the job's hosts are apart.
#pragma once

#include <mpi.h>

#include <cstdint>

#include "tracer/format.hpp"

namespace chiplog::tracer {

// The same for all processes of one kernel, and so of one CLOCK_MONOTONIC; never 0.
[[nodiscard]] std::uint64_t kernel_name();

// Measures against rank 0, over a communicator of its own. All ranks call it at MPI_Init and at MPI_Finalize.
class ClockOffsets {
 public:
  // Which ranks share a clock; makes the communicator only where not all do.
  void begin();
  [[nodiscard]] ClockOffset measure() const;
  void end();
  // The lowest rank whose clock this rank has.
  [[nodiscard]] std::uint32_t leader() const { return leader_; }

 private:
  void answer_all() const;
  [[nodiscard]] ClockOffset ask() const;

  MPI_Comm own_ = MPI_COMM_NULL;
  std::uint32_t leader_ = 0;
};

}  // namespace chiplog::tracer
