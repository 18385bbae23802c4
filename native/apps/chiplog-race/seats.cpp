#include "seats.hpp"

#include <string>

#include "chiplog/error.hpp"

namespace chiplog::race {
namespace {

// Where this rank is: its host, numbered by the first rank of each, and its place among that host's ranks.
struct Seat {
  int host = 0;
  int place = 0;
};

Seat find_seat() {
  MPI_Comm world = MPI_COMM_WORLD;
  int rank = 0;
  Seat seat;
  MPI_Comm host = MPI_COMM_NULL;
  PMPI_Comm_rank(world, &rank);
  PMPI_Comm_split_type(world, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &host);
  PMPI_Comm_rank(host, &seat.place);
  const int is_first = seat.place == 0 ? 1 : 0;
  PMPI_Exscan(&is_first, &seat.host, 1, MPI_INT, MPI_SUM, world);
  if (rank == 0) seat.host = 0;
  PMPI_Bcast(&seat.host, 1, MPI_INT, 0, host);
  return seat;  // the communicator stays: no other one gets its number while messages of both may be on their way
}

const Seat& own_seat() {
  static const Seat seat = find_seat();
  return seat;
}

}  // namespace

int count_hosts() {
  const int host = own_seat().host;
  int last = 0;
  PMPI_Allreduce(&host, &last, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  return last + 1;
}

bool is_member(int ranks, const Shape& shape) {
  int rank = 0;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (shape.hosts == 0 || shape.hosts * shape.processes != ranks) return rank < ranks;
  const Seat& seat = own_seat();
  const bool is_in = seat.host < shape.hosts && seat.place < shape.processes;
  const int one = is_in ? 1 : 0;
  int all = 0;
  PMPI_Allreduce(&one, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (all == ranks) return is_in;
  throw UsageError(std::to_string(shape.hosts) + " hosts with " + std::to_string(shape.processes) +
                   " ranks each are not among those that were started");
}

}  // namespace chiplog::race
