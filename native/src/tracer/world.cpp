#include "tracer/world.hpp"

#include <algorithm>
#include <mutex>
#include <vector>

namespace chiplog::tracer {
namespace {

constinit std::mutex lock;
bool is_world_open = false;
#ifdef MPI_SESSION_NULL
std::vector<MPI_Session> sessions;
#endif

}  // namespace

void open_world() {
  const std::lock_guard guard(lock);
  is_world_open = true;
}

void close_world() {
  const std::lock_guard guard(lock);
  is_world_open = false;
}

#ifdef MPI_SESSION_NULL
void open_session(MPI_Session session) {
  const std::lock_guard guard(lock);
  sessions.push_back(session);
}

void close_session(MPI_Session session) {
  const std::lock_guard guard(lock);
  if (const auto place = std::find(sessions.begin(), sessions.end(), session); place != sessions.end())
    sessions.erase(place);
}
#endif

bool is_anything_open() {
  const std::lock_guard guard(lock);
#ifdef MPI_SESSION_NULL
  if (!sessions.empty()) return true;
#endif
  return is_world_open;
}

// A group that is kept would keep its session from ending.
MPI_Group launched_ranks() {
  const std::lock_guard guard(lock);
  MPI_Group ranks = MPI_GROUP_NULL;
  if (is_world_open) return PMPI_Comm_group(MPI_COMM_WORLD, &ranks) == MPI_SUCCESS ? ranks : MPI_GROUP_NULL;
#ifdef MPI_SESSION_NULL
  if (!sessions.empty() && PMPI_Group_from_session_pset(sessions.front(), "mpi://WORLD", &ranks) == MPI_SUCCESS)
    return ranks;
#endif
  return MPI_GROUP_NULL;
}

}  // namespace chiplog::tracer
