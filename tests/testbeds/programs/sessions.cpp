// Programs that start MPI by MPI_Session_init: without MPI_Init, around it, and twice. An MPI without sessions ends
// with 77.
#include <mpi.h>

#include <cstdlib>
#include <string>
#include <vector>

namespace {

#ifdef MPI_SESSION_NULL
MPI_Session opened() {
  MPI_Session session = MPI_SESSION_NULL;
  MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
  return session;
}

// All ranks of the launch; the other way round with `is_reversed`.
MPI_Comm all_ranks(MPI_Session session, const char* tag, bool is_reversed) {
  MPI_Group all = MPI_GROUP_NULL;
  MPI_Group_from_session_pset(session, "mpi://WORLD", &all);
  if (is_reversed) {
    int size = 0;
    MPI_Group_size(all, &size);
    std::vector<int> ranks;
    for (int rank = size - 1; rank >= 0; --rank) ranks.push_back(rank);
    MPI_Group reversed = MPI_GROUP_NULL;
    MPI_Group_incl(all, size, ranks.data(), &reversed);
    MPI_Group_free(&all);
    all = reversed;
  }
  MPI_Comm made = MPI_COMM_NULL;
  MPI_Comm_create_from_group(all, tag, MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &made);
  MPI_Group_free(&all);
  return made;
}

// 8 B from rank 0 of the communicator to its rank 1, and a broadcast of its last rank's.
void talk(MPI_Comm comm) {
  int rank = 0;
  int ranks = 0;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &ranks);
  double value = rank;
  if (rank == 0) MPI_Send(&value, 1, MPI_DOUBLE, 1, 5, comm);
  if (rank == 1) MPI_Recv(&value, 1, MPI_DOUBLE, 0, 5, comm, MPI_STATUS_IGNORE);
  MPI_Bcast(&value, 1, MPI_DOUBLE, ranks - 1, comm);
}

void alone(const char* tag, bool is_reversed) {
  MPI_Session session = opened();
  MPI_Comm comm = all_ranks(session, tag, is_reversed);
  talk(comm);
  MPI_Comm_free(&comm);
  MPI_Session_finalize(&session);
}

void around_world() {
  MPI_Session session = opened();
  MPI_Comm comm = all_ranks(session, "around", false);
  talk(comm);
  MPI_Init(nullptr, nullptr);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Session other = opened();
  MPI_Session_finalize(&other);
  MPI_Finalize();
  talk(comm);
  MPI_Comm_free(&comm);
  MPI_Session_finalize(&session);
}
#endif

}  // namespace

int main(int count, char** arguments) {
  const std::string what = count > 1 ? arguments[1] : "";
#ifdef MPI_SESSION_NULL
  if (what == "alone") alone("alone", false);
  if (what == "around-world") around_world();
  if (what == "twice") {
    alone("first", false);
    alone("second", true);
  }
  if (what == "no-finalize") {
    MPI_Session session = opened();
    talk(all_ranks(session, "lost", false));
    std::_Exit(0);
  }
  return 0;
#else
  return 77;
#endif
}
