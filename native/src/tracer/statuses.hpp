// What an MPI_Status says.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "tracer/format.hpp"

namespace chiplog::tracer {

// Read as the MPI's own headers lay it out: a call would take longer than all else that the tracer does.
[[nodiscard]] inline std::uint64_t received_bytes(const MPI_Status& status) {
#if defined(OPEN_MPI)
  return status._ucount;
#elif defined(MPICH_VERSION) || defined(I_MPI_VERSION)
  const auto high = static_cast<std::uint64_t>(static_cast<unsigned>(status.count_hi_and_cancelled) >> 1U);
  return high << 32U | static_cast<unsigned>(status.count_lo);
#else
  MPI_Count bytes = 0;
  PMPI_Get_elements_x(&status, MPI_BYTE, &bytes);
  return bytes < 0 ? 0 : static_cast<std::uint64_t>(bytes);
#endif
}

[[nodiscard]] inline std::int32_t trace_peer(int rank) {
  return rank >= 0 ? rank : rank == MPI_ANY_SOURCE ? anybody : nobody;
}
[[nodiscard]] inline std::int32_t trace_tag(int tag) { return tag == MPI_ANY_TAG ? -1 : tag; }

// Room for statuses that the program ignores.
class OwnStatuses {
 public:
  explicit OwnStatuses(std::size_t count) {
    if (count > few) many_.resize(count);
  }
  [[nodiscard]] MPI_Status* data() { return many_.empty() ? first_ : many_.data(); }

 private:
  static constexpr std::size_t few = 32;
  MPI_Status first_[few];
  std::vector<MPI_Status> many_;
};

}  // namespace chiplog::tracer
