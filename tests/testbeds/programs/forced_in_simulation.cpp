// Times SimGrid's algorithms of collective operations, each forced in turn, in the virtual time of SMPI.
// Arguments: OPERATION:BYTES:ALGORITHM,ALGORITHM,... ... Rank 0 prints a line for each algorithm: operation, bytes,
// algorithm, seconds, or "wrong" for them. Seconds are from a moment at which all ranks start to the end of the last
// one. BYTES are those of a message, or of one rank's block.
#include <mpi.h>
#include <time.h>

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <map>
#include <sstream>
#include <string>
#include <vector>

// SimGrid exports these; its installed headers do not declare them.
namespace simgrid::smpi::colls {
void set_barrier(const std::string& name);
void set_bcast(const std::string& name);
void set_reduce(const std::string& name);
void set_allreduce(const std::string& name);
void set_allgather(const std::string& name);
void set_alltoall(const std::string& name);
void set_reduce_scatter(const std::string& name);
}  // namespace simgrid::smpi::colls

namespace {

namespace colls = simgrid::smpi::colls;

constexpr double kMargin = 1e-3;

int rank_of_this;
int ranks;
std::vector<char> outgoing;
std::vector<char> incoming;

// What a rank contributes; no two neighbours the same, and none zero.
char word_of(int rank) { return static_cast<char>(rank % 127 + 1); }

bool is_all(const char* begin, std::size_t bytes, char word) {
  return std::all_of(begin, begin + bytes, [word](char one) { return one == word; });
}

bool has_a_block_of_each_rank(int bytes) {
  for (int rank = 0; rank < ranks; ++rank) {
    const auto size = static_cast<std::size_t>(bytes);
    if (!is_all(incoming.data() + size * static_cast<std::size_t>(rank), size, word_of(rank))) return false;
  }
  return true;
}

bool is_combined(int bytes) {
  char all = 0;
  for (int rank = 0; rank < ranks; ++rank) all = static_cast<char>(all ^ word_of(rank));
  return is_all(incoming.data(), static_cast<std::size_t>(bytes), all);
}

struct Operation {
  void (*force)(const std::string& name);
  void (*run)(int bytes);
  bool (*is_right)(int bytes);
  bool has_blocks;  // one of each rank, in one buffer
};

const std::map<std::string, Operation> kOperations = {
    {"barrier", {colls::set_barrier, [](int) { MPI_Barrier(MPI_COMM_WORLD); }, [](int) { return true; }}},
    {"bcast",
     {colls::set_bcast,
      [](int bytes) {
        MPI_Bcast(rank_of_this == 0 ? outgoing.data() : incoming.data(), bytes, MPI_CHAR, 0, MPI_COMM_WORLD);
      },
      [](int bytes) {
        return rank_of_this == 0 || is_all(incoming.data(), static_cast<std::size_t>(bytes), word_of(0));
      }}},
    {"reduce",
     {colls::set_reduce,
      [](int bytes) { MPI_Reduce(outgoing.data(), incoming.data(), bytes, MPI_CHAR, MPI_BXOR, 0, MPI_COMM_WORLD); },
      [](int bytes) { return rank_of_this != 0 || is_combined(bytes); }}},
    {"allreduce",
     {colls::set_allreduce,
      [](int bytes) { MPI_Allreduce(outgoing.data(), incoming.data(), bytes, MPI_CHAR, MPI_BXOR, MPI_COMM_WORLD); },
      is_combined}},
    {"allgather",
     {colls::set_allgather,
      [](int bytes) {
        MPI_Allgather(outgoing.data(), bytes, MPI_CHAR, incoming.data(), bytes, MPI_CHAR, MPI_COMM_WORLD);
      },
      has_a_block_of_each_rank, true}},
    {"alltoall",
     {colls::set_alltoall,
      [](int bytes) {
        MPI_Alltoall(outgoing.data(), bytes, MPI_CHAR, incoming.data(), bytes, MPI_CHAR, MPI_COMM_WORLD);
      },
      has_a_block_of_each_rank, true}},
    {"reduce_scatter",
     {colls::set_reduce_scatter,
      [](int bytes) {
        const std::vector<int> blocks(static_cast<std::size_t>(ranks), bytes);
        MPI_Reduce_scatter(outgoing.data(), incoming.data(), blocks.data(), MPI_CHAR, MPI_BXOR, MPI_COMM_WORLD);
      },
      is_combined, true}},
};

// All ranks leave at the same virtual time, whatever operation is forced.
void start_together() {
  double mine = MPI_Wtime();
  double all = mine;
  for (int distance = 1; distance < ranks; distance *= 2) {
    double theirs = 0;
    MPI_Sendrecv(&all, 1, MPI_DOUBLE, (rank_of_this + distance) % ranks, 1, &theirs, 1, MPI_DOUBLE,
                 (rank_of_this - distance + ranks) % ranks, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    all = std::max(all, theirs);
  }
  const double left = all + kMargin - MPI_Wtime();
  const auto whole = static_cast<time_t>(left);
  const timespec pause = {whole, static_cast<long>((left - static_cast<double>(whole)) * 1e9)};
  nanosleep(&pause, nullptr);
}

// The largest of all ranks' values, on rank 0.
double largest(double mine) {
  for (int other = 1; other < ranks; ++other) {
    if (rank_of_this == other) MPI_Send(&mine, 1, MPI_DOUBLE, 0, 2, MPI_COMM_WORLD);
    if (rank_of_this != 0) continue;
    double theirs = 0;
    MPI_Recv(&theirs, 1, MPI_DOUBLE, other, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    mine = std::max(mine, theirs);
  }
  return mine;
}

void time_one(const std::string& name, const std::string& algorithm, int bytes) {
  const Operation& operation = kOperations.at(name);
  start_together();
  operation.force(algorithm);  // ranks are threads of one process, and this is the process's
  std::fill(incoming.begin(), incoming.end(), 0);
  operation.run(bytes);  // some make communicators at their first call
  const bool is_wrong = largest(operation.is_right(bytes) ? 0 : 1) > 0;
  start_together();
  const double begin = MPI_Wtime();
  operation.run(bytes);
  const double seconds = largest(MPI_Wtime() - begin);
  if (rank_of_this != 0) return;
  std::printf("%s %d %s ", name.c_str(), bytes, algorithm.c_str());
  std::printf(is_wrong ? "wrong\n" : "%.9e\n", seconds);
}

void time_all(const std::string& argument) {
  std::istringstream parts(argument);
  std::string name;
  std::string bytes;
  std::string algorithm;
  std::getline(parts, name, ':');
  std::getline(parts, bytes, ':');
  while (std::getline(parts, algorithm, ',')) time_one(name, algorithm, std::stoi(bytes));
}

std::size_t room_for(const std::string& argument) {
  const auto colon = argument.find(':');
  const auto blocks = kOperations.at(argument.substr(0, colon)).has_blocks ? ranks : 1;
  return static_cast<std::size_t>(std::stoi(argument.substr(colon + 1))) * static_cast<std::size_t>(blocks);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank_of_this);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  std::size_t most = 1;
  for (int i = 1; i < argc; ++i) most = std::max(most, room_for(argv[i]));
  outgoing.resize(most, word_of(rank_of_this));
  incoming.resize(outgoing.size());
  for (int i = 1; i < argc; ++i) time_all(argv[i]);
  MPI_Finalize();
  return 0;
}
