#include "tracer/offsets.hpp"

#include <unistd.h>

#include <fstream>
#include <string>
#include <vector>

#include "tracer/ticks.hpp"

namespace chiplog::tracer {
namespace {

constexpr int rounds = 20;
constexpr int tag = 7;

}  // namespace

std::uint64_t kernel_name() {
  std::string name;
  std::ifstream("/proc/sys/kernel/random/boot_id") >> name;
  if (name.empty()) {
    char host[256] = "";
    gethostname(host, sizeof host - 1);
    name = host;
  }
  std::uint64_t hash = 14695981039346656037U;  // FNV-1a
  for (const char letter : name) hash = (hash ^ static_cast<unsigned char>(letter)) * 1099511628211U;
  return hash == 0 ? 1 : hash;
}

void ClockOffsets::begin() {
  int rank = 0;
  int ranks = 1;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  PMPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const std::uint64_t own = kernel_name();
  std::uint64_t ends[2] = {own, ~own};
  PMPI_Allreduce(MPI_IN_PLACE, ends, 2, MPI_UINT64_T, MPI_MAX, MPI_COMM_WORLD);
  if (ends[0] == ~ends[1]) return;
  std::vector<std::uint64_t> names(static_cast<std::size_t>(ranks));
  PMPI_Allgather(&own, 1, MPI_UINT64_T, names.data(), 1, MPI_UINT64_T, MPI_COMM_WORLD);
  while (names[leader_] != own) ++leader_;
  PMPI_Comm_dup(MPI_COMM_WORLD, &own_);
}

// Rank 0 answers each leader in turn; a leader asks when it is told to, so that none waits in line within a round trip.
void ClockOffsets::answer_all() const {
  int ranks = 1;
  PMPI_Comm_size(own_, &ranks);
  std::vector<std::uint32_t> leaders(static_cast<std::size_t>(ranks));
  PMPI_Gather(&leader_, 1, MPI_UINT32_T, leaders.data(), 1, MPI_UINT32_T, 0, own_);
  for (int rank = 1; rank < ranks; ++rank) {
    if (leaders[static_cast<std::size_t>(rank)] != static_cast<std::uint32_t>(rank)) continue;
    std::int64_t now_ns = 0;
    PMPI_Send(&now_ns, 1, MPI_INT64_T, rank, tag, own_);
    for (int round = 0; round < rounds; ++round) {
      PMPI_Recv(&now_ns, 1, MPI_INT64_T, rank, tag, own_, MPI_STATUS_IGNORE);
      now_ns = clock_now_ns(CLOCK_MONOTONIC);
      PMPI_Send(&now_ns, 1, MPI_INT64_T, rank, tag, own_);
    }
  }
}

// Half of the quickest round trip lies before rank 0's reading.
ClockOffset ClockOffsets::ask() const {
  ClockOffset best{};
  std::int64_t there_ns = 0;
  PMPI_Recv(&there_ns, 1, MPI_INT64_T, 0, tag, own_, MPI_STATUS_IGNORE);
  for (int round = 0; round < rounds; ++round) {
    const std::int64_t begin_ns = clock_now_ns(CLOCK_MONOTONIC);
    PMPI_Send(&there_ns, 1, MPI_INT64_T, 0, tag, own_);
    PMPI_Recv(&there_ns, 1, MPI_INT64_T, 0, tag, own_, MPI_STATUS_IGNORE);
    const std::int64_t took_ns = clock_now_ns(CLOCK_MONOTONIC) - begin_ns;
    if (best.round_trip_ns != 0 && took_ns >= best.round_trip_ns) continue;
    best = {begin_ns, begin_ns + took_ns / 2 - there_ns, took_ns > 0 ? took_ns : 1};
  }
  return best;
}

ClockOffset ClockOffsets::measure() const {
  if (own_ == MPI_COMM_NULL) return {};
  int rank = 0;
  PMPI_Comm_rank(own_, &rank);
  if (rank == 0) {
    answer_all();
    return {};
  }
  PMPI_Gather(&leader_, 1, MPI_UINT32_T, nullptr, 0, MPI_UINT32_T, 0, own_);
  return leader_ == static_cast<std::uint32_t>(rank) ? ask() : ClockOffset{};
}

void ClockOffsets::end() {
  if (own_ != MPI_COMM_NULL) PMPI_Comm_free(&own_);
}

}  // namespace chiplog::tracer
