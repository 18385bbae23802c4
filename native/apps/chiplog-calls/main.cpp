// Collective calls, one after the other, and how each ended: what `chiplog tune lint` runs with a tuning file.
//
// A call is OPERATION:RANKS:BYTES[:FLAGS], made by the first RANKS ranks; BYTES is what one block holds. FLAGS: i =
// send buffer in place, u = an operation of the user's, n = one that is not commutative. Prints "ranks N", then "call
// INDEX ok", "call INDEX error TEXT" or "call INDEX skipped" where there are fewer ranks.
// `--variables` prints MPI_T's control variables instead, one a line: "variable NAME INTEGER-VALUE-OR-DASH".

#include <mpi.h>

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <sstream>
#include <string>
#include <vector>

namespace {

constexpr std::size_t most_bytes = std::size_t{1} << 26;

struct Call {
  std::string operation;
  int ranks = 0;
  std::size_t bytes = 0;
  bool in_place = false;
  bool is_users = false;
  bool commutes = true;
};

// Memory of one communicator's call: blocks for all ranks on both sides.
struct Buffers {
  explicit Buffers(const Call& call)
      : from(call.bytes * static_cast<std::size_t>(call.ranks) + 1),
        to(call.bytes * static_cast<std::size_t>(call.ranks) + 1),
        counts(static_cast<std::size_t>(call.ranks), static_cast<int>(call.bytes)),
        places(static_cast<std::size_t>(call.ranks)) {
    for (std::size_t i = 0; i < places.size(); ++i) places[i] = static_cast<int>(i * call.bytes);
  }
  std::vector<char> from;
  std::vector<char> to;
  std::vector<int> counts;
  std::vector<int> places;
};

struct Run {
  const Call& call;
  MPI_Comm comm;
  MPI_Op op;
  int rank;
  Buffers& memory;

  [[nodiscard]] int count() const { return static_cast<int>(call.bytes); }
  [[nodiscard]] const void* from() const { return call.in_place ? MPI_IN_PLACE : memory.from.data(); }
  [[nodiscard]] void* to() const { return memory.to.data(); }
  // Of operations with a root only the root may give MPI_IN_PLACE.
  [[nodiscard]] const void* from_at_root() const { return rank == 0 ? from() : memory.from.data(); }
};

using Function = int (*)(const Run&);

const std::map<std::string, Function>& functions() {
  static const std::map<std::string, Function> known = {
      {"barrier", [](const Run& run) { return MPI_Barrier(run.comm); }},
      {"bcast", [](const Run& run) { return MPI_Bcast(run.to(), run.count(), MPI_BYTE, 0, run.comm); }},
      {"reduce",
       [](const Run& run) {
         return MPI_Reduce(run.from_at_root(), run.to(), run.count(), MPI_BYTE, run.op, 0, run.comm);
       }},
      {"allreduce",
       [](const Run& run) { return MPI_Allreduce(run.from(), run.to(), run.count(), MPI_BYTE, run.op, run.comm); }},
      {"scan", [](const Run& run) { return MPI_Scan(run.from(), run.to(), run.count(), MPI_BYTE, run.op, run.comm); }},
      {"exscan",
       [](const Run& run) { return MPI_Exscan(run.from(), run.to(), run.count(), MPI_BYTE, run.op, run.comm); }},
      {"gather",
       [](const Run& run) {
         return MPI_Gather(run.from_at_root(), run.count(), MPI_BYTE, run.to(), run.count(), MPI_BYTE, 0, run.comm);
       }},
      {"scatter",
       [](const Run& run) {
         return MPI_Scatter(run.memory.from.data(), run.count(), MPI_BYTE, run.to(), run.count(), MPI_BYTE, 0,
                            run.comm);
       }},
      {"allgather",
       [](const Run& run) {
         return MPI_Allgather(run.from(), run.count(), MPI_BYTE, run.to(), run.count(), MPI_BYTE, run.comm);
       }},
      {"allgatherv",
       [](const Run& run) {
         return MPI_Allgatherv(run.from(), run.count(), MPI_BYTE, run.to(), run.memory.counts.data(),
                               run.memory.places.data(), MPI_BYTE, run.comm);
       }},
      {"alltoall",
       [](const Run& run) {
         return MPI_Alltoall(run.from(), run.count(), MPI_BYTE, run.to(), run.count(), MPI_BYTE, run.comm);
       }},
      {"alltoallv",
       [](const Run& run) {
         return MPI_Alltoallv(run.from(), run.memory.counts.data(), run.memory.places.data(), MPI_BYTE, run.to(),
                              run.memory.counts.data(), run.memory.places.data(), MPI_BYTE, run.comm);
       }},
      {"reduce_scatter",
       [](const Run& run) {
         return MPI_Reduce_scatter(run.from(), run.to(), run.memory.counts.data(), MPI_BYTE, run.op, run.comm);
       }},
      {"reduce_scatter_block",
       [](const Run& run) {
         return MPI_Reduce_scatter_block(run.from(), run.to(), run.count(), MPI_BYTE, run.op, run.comm);
       }},
  };
  return known;
}

void bitwise_or(void* in, void* in_and_out, int* count, MPI_Datatype*) {
  for (int i = 0; i < *count; ++i) static_cast<char*>(in_and_out)[i] |= static_cast<char*>(in)[i];
}

bool parse(const char* text, Call& call) {
  std::istringstream words(text);
  std::string ranks;
  std::string bytes;
  std::string flags;
  std::getline(words, call.operation, ':');
  std::getline(words, ranks, ':');
  std::getline(words, bytes, ':');
  std::getline(words, flags, ':');
  call.ranks = std::atoi(ranks.c_str());
  call.bytes = std::strtoull(bytes.c_str(), nullptr, 10);
  call.in_place = flags.find('i') != std::string::npos;
  call.is_users = flags.find_first_of("un") != std::string::npos;
  call.commutes = flags.find('n') == std::string::npos;
  return functions().count(call.operation) != 0 && call.ranks > 0 && call.bytes <= most_bytes;
}

MPI_Op operation_of(const Call& call) {
  if (!call.is_users) return MPI_BOR;
  MPI_Op op = MPI_OP_NULL;
  MPI_Op_create(bitwise_or, call.commutes ? 1 : 0, &op);
  return op;
}

// Made of a group, so that no other collective operation of the world is needed.
MPI_Comm first_ranks(int ranks) {
  MPI_Group world = MPI_GROUP_NULL;
  MPI_Group part = MPI_GROUP_NULL;
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  int range[1][3] = {{0, ranks - 1, 1}};
  MPI_Group_range_incl(world, 1, range, &part);
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Comm_create_group(MPI_COMM_WORLD, part, ranks, &comm);
  MPI_Group_free(&part);
  MPI_Group_free(&world);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  return comm;
}

void make(const Call& call, int index, int rank, int ranks, std::map<int, MPI_Comm>& comms) {
  if (ranks < call.ranks) {
    if (rank == 0) std::printf("call %d skipped\n", index);
    return;
  }
  if (rank >= call.ranks) return;
  if (comms.count(call.ranks) == 0) comms[call.ranks] = first_ranks(call.ranks);
  Buffers memory(call);
  MPI_Op op = operation_of(call);
  const int code = functions().at(call.operation)({call, comms[call.ranks], op, rank, memory});
  if (call.is_users) MPI_Op_free(&op);
  if (rank != 0) return;
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  if (code != MPI_SUCCESS) MPI_Error_string(code, text, &length);
  for (char* at = text; *at != '\0'; ++at) {
    if (*at == '\n') *at = ' ';
  }
  std::printf("call %d %s %s\n", index, code == MPI_SUCCESS ? "ok" : "error", text);
  std::fflush(stdout);
}

// All ranks are here when rank 0 returns; no tuning file says how.
void meet(int rank, int ranks) {
  if (rank != 0) MPI_Send(nullptr, 0, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
  for (int other = 1; rank == 0 && other < ranks; ++other) {
    MPI_Recv(nullptr, 0, MPI_BYTE, other, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
}

int run_calls(int argc, char** argv) {
  int rank = 0;
  int ranks = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  meet(rank, ranks);
  if (rank == 0) std::printf("ranks %d\n", ranks);
  std::fflush(stdout);
  std::map<int, MPI_Comm> comms;
  for (int i = 1; i < argc; ++i) {
    Call call;
    if (!parse(argv[i], call)) {
      if (rank == 0) std::printf("call %d skipped\n", i - 1);
      continue;
    }
    make(call, i - 1, rank, ranks, comms);
  }
  for (auto& [size, comm] : comms) MPI_Comm_free(&comm);
  if (rank == 0) std::printf("done\n");
  std::fflush(stdout);
  return EXIT_SUCCESS;
}

void print_variable(int index) {
  char name[512] = "";
  char text[4] = "";
  int name_length = sizeof(name);
  int text_length = sizeof(text);
  int verbosity = 0;
  int bind = 0;
  int scope = 0;
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_T_enum values = MPI_T_ENUM_NULL;
  if (MPI_T_cvar_get_info(index, name, &name_length, &verbosity, &type, &values, text, &text_length, &bind, &scope) !=
      MPI_SUCCESS) {
    return;
  }
  MPI_T_cvar_handle handle = MPI_T_CVAR_HANDLE_NULL;
  int count = 0;
  int value = 0;
  const bool is_number = type == MPI_INT && bind == MPI_T_BIND_NO_OBJECT &&
                         MPI_T_cvar_handle_alloc(index, nullptr, &handle, &count) == MPI_SUCCESS && count == 1 &&
                         MPI_T_cvar_read(handle, &value) == MPI_SUCCESS;
  if (is_number) {
    std::printf("variable %s %d\n", name, value);
  } else {
    std::printf("variable %s -\n", name);
  }
}

int print_variables() {
  int provided = 0;
  if (MPI_T_init_thread(MPI_THREAD_SINGLE, &provided) != MPI_SUCCESS) return EXIT_FAILURE;
  int count = 0;
  MPI_T_cvar_get_num(&count);
  for (int i = 0; i < count; ++i) print_variable(i);
  std::printf("done\n");
  std::fflush(stdout);
  MPI_T_finalize();
  return EXIT_SUCCESS;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1 && std::strcmp(argv[1], "--variables") == 0) return print_variables();
  MPI_Init(&argc, &argv);
  const int code = run_calls(argc, argv);
  MPI_Finalize();
  return code;
}
