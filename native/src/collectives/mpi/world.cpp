#include "collectives/mpi/world.hpp"

#include <unistd.h>

#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <map>
#include <numeric>
#include <string_view>

#include "collectives/mpi/job.hpp"
#include "collectives/mpi/long_wait.hpp"
#include "collectives/settings.hpp"

namespace chiplog::collectives {
namespace {

constexpr const char* format = "3";  // of boards and flags: processes with different ones don't meet

// FNV-1a: the same in all processes.
std::uint64_t digest_of(std::string_view text) {
  std::uint64_t digest = 0xcbf29ce484222325U;
  for (const char letter : text) digest = (digest ^ static_cast<unsigned char>(letter)) * 0x100000001b3U;
  return digest;
}

std::string hexadecimal(std::uint64_t number) {
  char text[17];
  std::snprintf(text, sizeof text, "%016" PRIx64, number);
  return text;
}

bool is_spawned() {
  MPI_Comm parent = MPI_COMM_NULL;
  PMPI_Comm_get_parent(&parent);
  return parent != MPI_COMM_NULL;
}

// Empty where the launcher doesn't tell which job this is.
std::string roster_group(int ranks) {
  const std::string job = job_of_this_process(is_spawned());
  if (job.empty()) return "";
  const Settings& given = settings();
  return hexadecimal(digest_of(std::string(format) + "\n" + job + "\n" + std::to_string(getuid()) + "\n" +
                               std::to_string(ranks) + "\n" + std::to_string(given.barriers_before) + "\n" +
                               std::to_string(given.shares_memory ? 1 : 0) + "\n" + given.node));
}

// The same for all processes of one host and node name that see each other's boards.
std::uint64_t node_digest(int rank) {
  if (!settings().shares_memory) return static_cast<std::uint64_t>(rank);
  std::string boot;
  std::getline(std::ifstream("/proc/sys/kernel/random/boot_id"), boot);
  char network[64] = "";
  if (readlink("/proc/self/ns/net", network, sizeof network - 1) < 0) network[0] = '\0';
  return digest_of(boot + "\n" + network + "\n" + settings().node);
}

}  // namespace

World::World() {
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank_);
  PMPI_Comm_size(MPI_COMM_WORLD, &ranks_);
  PMPI_Comm_group(MPI_COMM_WORLD, &group_);
  if (!settings().shares_memory || board_.data() == nullptr) return;
  const std::string group = roster_group(ranks_);
  if (group.empty()) return;
  roster_ = std::make_unique<Roster>(group);
  if (!roster_->announce(rank_, board_.address())) roster_.reset();
}

World::~World() {
  int finalised = 0;
  PMPI_Finalized(&finalised);
  if (finalised == 0 && group_ != MPI_GROUP_NULL) PMPI_Group_free(&group_);
}

void World::connect() {
  if (messages_ != MPI_COMM_NULL) return;  // some MPIs' Fortran functions call the C ones
  if (!meet_all() || PMPI_Comm_dup(MPI_COMM_WORLD, &messages_) != MPI_SUCCESS) return;
  PMPI_Comm_set_errhandler(messages_, MPI_ERRORS_RETURN);
  void* largest = nullptr;
  int found = 0;
  PMPI_Comm_get_attr(messages_, MPI_TAG_UB, &largest, &found);
  constexpr int promised = 32767;
  largest_tag_ = found != 0 ? *static_cast<int*>(largest) : promised;
  const std::uint64_t mine = node_digest(rank_);
  std::vector<std::uint64_t> all(static_cast<std::size_t>(ranks_));
  PMPI_Allgather(&mine, sizeof mine, MPI_BYTE, all.data(), sizeof mine, MPI_BYTE, messages_);
  std::map<std::uint64_t, int> first_of;
  for (int rank = 0; rank < ranks_; ++rank) {
    nodes_.push_back(first_of.emplace(all[static_cast<std::size_t>(rank)], rank).first->second);
  }
}

bool World::meet_all() {
  MPI_Request request = MPI_REQUEST_NULL;
  if (PMPI_Ibarrier(MPI_COMM_WORLD, &request) != MPI_SUCCESS) return false;
  return wait_long(request, [this] {
           return "MPI_COMM_WORLD: rank " + std::to_string(rank_) + " waits in MPI_Init for " + unseen() +
                  ". CHIPLOG_EVERY_RANK=1 says that every rank has this library and that variable: unset it where "
                  "that is not so.";
         }) == MPI_SUCCESS;
}

void World::disconnect() {
  if (messages_ != MPI_COMM_NULL) PMPI_Comm_free(&messages_);
}

std::vector<int> World::ranks_of(MPI_Comm communicator) const {
  MPI_Group members = MPI_GROUP_NULL;
  int count = 0;
  if (PMPI_Comm_group(communicator, &members) != MPI_SUCCESS) return {};
  PMPI_Group_size(members, &count);
  int size = 0;
  PMPI_Comm_size(communicator, &size);
  if (size != count) {
    PMPI_Group_free(&members);
    return {};
  }
  std::vector<int> own(static_cast<std::size_t>(count));
  std::vector<int> ranks(own.size());
  std::iota(own.begin(), own.end(), 0);
  const int error = PMPI_Group_translate_ranks(members, count, own.data(), group_, ranks.data());
  PMPI_Group_free(&members);
  if (error != MPI_SUCCESS) return {};
  for (const int rank : ranks) {
    if (rank == MPI_UNDEFINED) return {};
  }
  return ranks;
}

std::string World::unseen() {
  std::string ranks;
  int count = 0;
  for (int rank = 0; rank < ranks_; ++rank) {
    if (rank == rank_ || has_here({rank})) continue;
    constexpr int most_named = 8;
    if (++count <= most_named) ranks += (count == 1 ? "" : ", ") + std::to_string(rank);
    if (count == most_named + 1) ranks += " and so on";
  }
  if (count == 0) return "ranks that have the library and are late";
  return (count == 1 ? "rank " : "ranks ") + ranks + ", which this node does not show with the library";
}

bool World::has_here(const std::vector<int>& ranks) { return roster_ && roster_->has(ranks); }

std::vector<std::byte*> World::boards_of(const std::vector<int>& ranks) {
  if (!roster_) return {};
  return roster_->boards_of(ranks, board_bytes);
}

// The tags of rank r are r + ranks, r + 2 ranks, ...
int World::take_tag() {
  const std::lock_guard lock(tags_mutex_);
  std::int64_t number = 1;
  for (const std::int64_t taken : taken_) {
    if (taken != number) break;
    ++number;
  }
  const std::int64_t tag = number * ranks_ + rank_;
  if (tag > largest_tag_) return 0;
  taken_.insert(number);
  return static_cast<int>(tag);
}

void World::give_back_tag(int tag) {
  const std::lock_guard lock(tags_mutex_);
  taken_.erase(tag / ranks_);
}

}  // namespace chiplog::collectives
