#include "emulations.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <vector>

#include "chiplog/error.hpp"

namespace chiplog::race {
namespace {

using bench::Buffers;

struct Emulation {
  const char* operation;
  const char* name;
  bench::Call call;
};

int ranks_of(MPI_Comm world) {
  int ranks = 0;
  PMPI_Comm_size(world, &ranks);
  return ranks;
}

int rank_in(MPI_Comm world) {
  int rank = 0;
  PMPI_Comm_rank(world, &rank);
  return rank;
}

// Of the block of this rank in a buffer with those of all.
std::size_t own_place(const Buffers& b, MPI_Comm world) {
  return static_cast<std::size_t>(b.bytes()) * static_cast<std::size_t>(rank_in(world));
}

// What a message of `count` elements is divided into, rank by rank: as evenly as it can be.
class Shares {
 public:
  Shares(int count, MPI_Comm world) {
    const int ranks = ranks_of(world);
    is_even_ = count % ranks == 0;
    for (int rank = 0, place = 0; rank < ranks; place += counts_.back(), ++rank) {
      places_.push_back(place);
      counts_.push_back(count / ranks + (rank < count % ranks ? 1 : 0));
    }
    own_ = counts_[static_cast<std::size_t>(rank_in(world))];
  }

  [[nodiscard]] bool is_even() const { return is_even_; }
  [[nodiscard]] int own() const { return own_; }
  [[nodiscard]] const int* counts() const { return counts_.data(); }
  [[nodiscard]] const int* places() const { return places_.data(); }

 private:
  bool is_even_ = true;
  int own_ = 0;
  std::vector<int> counts_;
  std::vector<int> places_;
};

int scatter_shares(Buffers& b, const Shares& shares, MPI_Comm world) {
  const MPI_Datatype type = b.datatype().type;
  if (shares.is_even()) return PMPI_Scatter(b.send(), shares.own(), type, b.scratch(), shares.own(), type, 0, world);
  return PMPI_Scatterv(b.send(), shares.counts(), shares.places(), type, b.scratch(), shares.own(), type, 0, world);
}

int allgather_shares(Buffers& b, char* result, const Shares& shares, MPI_Comm world) {
  const MPI_Datatype type = b.datatype().type;
  if (shares.is_even()) return PMPI_Allgather(b.scratch(), shares.own(), type, result, shares.own(), type, world);
  return PMPI_Allgatherv(b.scratch(), shares.own(), type, result, shares.counts(), shares.places(), type, world);
}

int gather_shares(Buffers& b, const Shares& shares, MPI_Comm world) {
  const MPI_Datatype type = b.datatype().type;
  if (shares.is_even()) return PMPI_Gather(b.scratch(), shares.own(), type, b.receive(), shares.own(), type, 0, world);
  return PMPI_Gatherv(b.scratch(), shares.own(), type, b.receive(), shares.counts(), shares.places(), type, 0, world);
}

int reduce_scatter_shares(Buffers& b, const Shares& shares, MPI_Comm world) {
  return PMPI_Reduce_scatter(b.send(), b.scratch(), shares.counts(), b.datatype().type, b.datatype().reduction, world);
}

// Own block at its place among those of all ranks, and zeros, which change no sum and no bitwise or, elsewhere.
void place_among_zeros(Buffers& b, MPI_Comm world) {
  const std::size_t place = own_place(b, world);
  const auto bytes = static_cast<std::size_t>(b.bytes());
  const std::size_t all = bytes * static_cast<std::size_t>(ranks_of(world));
  std::fill(b.scratch(), b.scratch() + place, '\0');
  std::copy_n(b.send(), bytes, b.scratch() + place);
  std::fill(b.scratch() + place + bytes, b.scratch() + all, '\0');
}

int barrier_by_allreduce(Buffers& b, MPI_Comm world) {
  return PMPI_Allreduce(b.send(), b.receive(), 1, MPI_BYTE, MPI_BOR, world);
}

int bcast_by_scatter_allgather(Buffers& b, MPI_Comm world) {
  const Shares shares(b.count(), world);
  const int code = scatter_shares(b, shares, world);
  return code != MPI_SUCCESS ? code : allgather_shares(b, b.send(), shares, world);
}

int reduce_by_allreduce(Buffers& b, MPI_Comm world) {
  return PMPI_Allreduce(b.send(), b.receive(), b.count(), b.datatype().type, b.datatype().reduction, world);
}

int reduce_by_reduce_scatter_gather(Buffers& b, MPI_Comm world) {
  const Shares shares(b.count(), world);
  const int code = reduce_scatter_shares(b, shares, world);
  return code != MPI_SUCCESS ? code : gather_shares(b, shares, world);
}

int allreduce_by_reduce_bcast(Buffers& b, MPI_Comm world) {
  const bench::Datatype& data = b.datatype();
  const int code = PMPI_Reduce(b.send(), b.receive(), b.count(), data.type, data.reduction, 0, world);
  return code != MPI_SUCCESS ? code : PMPI_Bcast(b.receive(), b.count(), data.type, 0, world);
}

int allreduce_by_reduce_scatter_allgather(Buffers& b, MPI_Comm world) {
  const Shares shares(b.count(), world);
  const int code = reduce_scatter_shares(b, shares, world);
  return code != MPI_SUCCESS ? code : allgather_shares(b, b.receive(), shares, world);
}

int gather_by_allgather(Buffers& b, MPI_Comm world) {
  const MPI_Datatype type = b.datatype().type;
  return PMPI_Allgather(b.send(), b.count(), type, b.receive(), b.count(), type, world);
}

int gather_by_reduce(Buffers& b, MPI_Comm world) {
  place_among_zeros(b, world);
  return PMPI_Reduce(b.scratch(), b.receive(), b.count() * ranks_of(world), b.datatype().type, b.datatype().reduction,
                     0, world);
}

int scatter_by_bcast(Buffers& b, MPI_Comm world) {
  char* all = rank_in(world) == 0 ? b.send() : b.scratch();
  const int code = PMPI_Bcast(all, b.count() * ranks_of(world), b.datatype().type, 0, world);
  std::copy_n(all + own_place(b, world), b.bytes(), b.receive());
  return code;
}

int allgather_by_gather_bcast(Buffers& b, MPI_Comm world) {
  const MPI_Datatype type = b.datatype().type;
  const int code = PMPI_Gather(b.send(), b.count(), type, b.receive(), b.count(), type, 0, world);
  return code != MPI_SUCCESS ? code : PMPI_Bcast(b.receive(), b.count() * ranks_of(world), type, 0, world);
}

int allgather_by_alltoall(Buffers& b, MPI_Comm world) {
  const MPI_Datatype type = b.datatype().type;
  for (int rank = 0; rank < ranks_of(world); ++rank) {
    std::copy_n(b.send(), b.bytes(),
                b.scratch() + static_cast<std::size_t>(b.bytes()) * static_cast<std::size_t>(rank));
  }
  return PMPI_Alltoall(b.scratch(), b.count(), type, b.receive(), b.count(), type, world);
}

int allgather_by_allreduce(Buffers& b, MPI_Comm world) {
  place_among_zeros(b, world);
  return PMPI_Allreduce(b.scratch(), b.receive(), b.count() * ranks_of(world), b.datatype().type,
                        b.datatype().reduction, world);
}

int reduce_scatter_by_reduce_and_scatter(Buffers& b, MPI_Comm world) {
  const bench::Datatype& data = b.datatype();
  const int code = PMPI_Reduce(b.send(), b.scratch(), b.count() * ranks_of(world), data.type, data.reduction, 0, world);
  return code != MPI_SUCCESS
             ? code
             : PMPI_Scatter(b.scratch(), b.count(), data.type, b.receive(), b.count(), data.type, 0, world);
}

int reduce_scatter_by_allreduce(Buffers& b, MPI_Comm world) {
  const bench::Datatype& data = b.datatype();
  const int code = PMPI_Allreduce(b.send(), b.scratch(), b.count() * ranks_of(world), data.type, data.reduction, world);
  std::copy_n(b.scratch() + own_place(b, world), b.bytes(), b.receive());
  return code;
}

constexpr std::array emulations{
    Emulation{"barrier", "allreduce", barrier_by_allreduce},
    Emulation{"bcast", "scatter+allgather", bcast_by_scatter_allgather},
    Emulation{"reduce", "allreduce", reduce_by_allreduce},
    Emulation{"reduce", "reduce_scatter+gather", reduce_by_reduce_scatter_gather},
    Emulation{"allreduce", "reduce+bcast", allreduce_by_reduce_bcast},
    Emulation{"allreduce", "reduce_scatter+allgather", allreduce_by_reduce_scatter_allgather},
    Emulation{"gather", "allgather", gather_by_allgather},
    Emulation{"gather", "reduce", gather_by_reduce},
    Emulation{"scatter", "bcast", scatter_by_bcast},
    Emulation{"allgather", "gather+bcast", allgather_by_gather_bcast},
    Emulation{"allgather", "alltoall", allgather_by_alltoall},
    Emulation{"allgather", "allreduce", allgather_by_allreduce},
    Emulation{"reduce_scatter", "reduce+scatter", reduce_scatter_by_reduce_and_scatter},
    Emulation{"reduce_scatter", "allreduce", reduce_scatter_by_allreduce},
};

}  // namespace

bench::Call find_emulation(const std::string& operation, const std::string& name) {
  std::string names;
  for (const Emulation& known : emulations) {
    if (operation != known.operation) continue;
    if (name == known.name) return known.call;
    names += (names.empty() ? "" : ", ") + std::string(known.name);
  }
  throw UsageError("--emulation accepts " + (names.empty() ? "none" : names) + " for " + operation + ", not '" + name +
                   "'");
}

}  // namespace chiplog::race
