#include "tracer/communicators.hpp"

#include <atomic>
#include <cstddef>
#include <mutex>
#include <numeric>
#include <vector>

#include "tracer/requests.hpp"
#include "tracer/world.hpp"

namespace chiplog::tracer {
namespace {

struct Slot {
  std::atomic<std::uintptr_t> key;
  std::atomic<const Group*> group;
};

constexpr unsigned slot_bits = 14;
constexpr std::size_t slots = std::size_t{1} << slot_bits;
constexpr std::size_t most_probes = 256;
constexpr std::uintptr_t freed = 1;

constinit Slot table[slots];
constinit std::mutex table_lock;
std::atomic<std::uint32_t> next_number{0};
const Group unknown{};

Slot& slot_at(std::uintptr_t key, std::size_t probe) {
  const std::uint64_t spread = static_cast<std::uint64_t>(key) * 0x9E3779B97F4A7C15U;
  return table[((spread >> (64U - slot_bits)) + probe) % slots];
}

const Group* find(std::uintptr_t key) {
  for (std::size_t probe = 0; probe < most_probes; ++probe) {
    const Slot& slot = slot_at(key, probe);
    const std::uintptr_t there = slot.key.load(std::memory_order_acquire);
    if (there == key) return slot.group.load(std::memory_order_relaxed);
    if (there == 0) return nullptr;
  }
  return nullptr;
}

// World ranks as runs of first, step, how many.
std::vector<std::uint32_t> runs_of(const std::vector<int>& members) {
  std::vector<std::uint32_t> runs;
  for (std::size_t first = 0; first < members.size();) {
    std::size_t end = first + 1;
    const int step = end < members.size() ? members[end] - members[first] : 1;
    while (end < members.size() && members[end] - members[end - 1] == step) ++end;
    runs.push_back(static_cast<std::uint32_t>(members[first]));
    runs.push_back(static_cast<std::uint32_t>(step));
    runs.push_back(static_cast<std::uint32_t>(end - first));
    first = end;
  }
  return runs;
}

// The world ranks of a group, which is freed; -1 for those of another world.
std::vector<int> world_ranks(MPI_Group group) {
  int size = 0;
  PMPI_Group_size(group, &size);
  std::vector<int> own(static_cast<std::size_t>(size));
  std::vector<int> ranks(own.size(), nobody);
  std::iota(own.begin(), own.end(), 0);
  if (MPI_Group world = launched_ranks(); world != MPI_GROUP_NULL) {
    PMPI_Group_translate_ranks(group, size, own.data(), world, ranks.data());
    PMPI_Group_free(&world);
  }
  PMPI_Group_free(&group);
  for (int& rank : ranks) rank = rank < 0 ? nobody : rank;
  return ranks;
}

void count_neighbours(MPI_Comm communicator, Group& group) {
  int kind = MPI_UNDEFINED;
  PMPI_Topo_test(communicator, &kind);
  if (kind == MPI_CART) {
    int dimensions = 0;
    PMPI_Cartdim_get(communicator, &dimensions);
    group.sources = group.destinations = 2 * dimensions;
  } else if (kind == MPI_GRAPH) {
    PMPI_Graph_neighbors_count(communicator, group.rank, &group.sources);
    group.destinations = group.sources;
  } else if (kind == MPI_DIST_GRAPH) {
    int is_weighted = 0;
    PMPI_Dist_graph_neighbors_count(communicator, &group.sources, &group.destinations, &is_weighted);
  }
}

const Group* described(Stream& stream, MPI_Comm communicator) {
  auto* const group = new Group;  // for as long as the process lives: others may hold it
  const std::uint32_t number = next_number.fetch_add(1, std::memory_order_relaxed);
  group->number = number < unknown_communicator ? static_cast<std::uint16_t>(number) : unknown_communicator;
  int is_inter = 0;
  PMPI_Comm_test_inter(communicator, &is_inter);
  PMPI_Comm_rank(communicator, &group->rank);
  MPI_Group members = MPI_GROUP_NULL;
  if (PMPI_Comm_group(communicator, &members) == MPI_SUCCESS) {
    const std::vector<int> ranks = world_ranks(members);
    group->ranks = static_cast<int>(ranks.size());
    if (number < unknown_communicator) stream.write_members(group->number, false, runs_of(ranks));
  }
  if (is_inter == 0) {
    count_neighbours(communicator, *group);
  } else if (PMPI_Comm_remote_group(communicator, &members) == MPI_SUCCESS) {
    const std::vector<int> ranks = world_ranks(members);
    group->ranks = static_cast<int>(ranks.size());
    if (number < unknown_communicator) stream.write_members(group->number, true, runs_of(ranks));
  }
  return group;
}

}  // namespace

const Group& group_of(Stream& stream, MPI_Comm communicator) {
  if (communicator == MPI_COMM_NULL) return unknown;
  const std::uintptr_t key = key_of(communicator);
  if (const Group* const found = find(key); found != nullptr) [[likely]]
    return *found;
  const std::lock_guard guard(table_lock);
  if (const Group* const found = find(key); found != nullptr) return *found;
  const Group* const group = described(stream, communicator);
  for (std::size_t probe = 0; probe < most_probes; ++probe) {
    Slot& slot = slot_at(key, probe);
    const std::uintptr_t there = slot.key.load(std::memory_order_relaxed);
    if (there != 0 && there != freed && there != key) continue;
    slot.group.store(group, std::memory_order_relaxed);
    slot.key.store(key, std::memory_order_release);
    break;
  }
  return *group;
}

void forget(MPI_Comm communicator) {
  const std::uintptr_t key = key_of(communicator);
  const std::lock_guard guard(table_lock);
  for (std::size_t probe = 0; probe < most_probes; ++probe) {
    Slot& slot = slot_at(key, probe);
    const std::uintptr_t there = slot.key.load(std::memory_order_relaxed);
    if (there == 0) return;
    if (there == key) slot.key.store(freed, std::memory_order_relaxed);
  }
}

void forget_all_communicators() {
  const std::lock_guard guard(table_lock);
  for (Slot& slot : table) {
    if (slot.key.load(std::memory_order_relaxed) != 0) slot.key.store(freed, std::memory_order_relaxed);
  }
}

}  // namespace chiplog::tracer
