#include "simulation/waiting_lists.hpp"

#include <algorithm>
#include <bit>

namespace chiplog::simulation {
namespace {

constexpr std::uint32_t first_slots = 2;
constexpr std::uint32_t few_slots = 32;  // with more of them, tables are few and grow faster
constexpr std::size_t chunk_slots = std::size_t{1} << 17;

}  // namespace

WaitingLists::WaitingLists(std::uint32_t ranks) : tables_(ranks) {
  chunks_.emplace_back(std::size_t{first_slots} * ranks);
  next_ = chunks_.back().size();
  for (std::size_t rank = 0; rank < tables_.size(); ++rank)
    tables_[rank] = {chunks_.back().data() + rank * first_slots, first_slots - 1, 0};
}

void WaitingLists::claim(std::uint32_t rank, Slot& slot, const Slot& filled) {
  slot = filled;
  Table& table = tables_[rank];
  const std::uint32_t slots = table.mask + 1;
  if (++table.used > slots - std::max(1U, slots / 4)) grow(rank);
}

// Moves back the entries that a search could no longer reach across the freed slot.
void WaitingLists::release(std::uint32_t rank, const Slot& slot) {
  Table& table = tables_[rank];
  --table.used;
  auto hole = static_cast<std::uint32_t>(&slot - table.slots);
  for (std::uint32_t next = (hole + 1) & table.mask;; next = (next + 1) & table.mask) {
    const Slot& other = table.slots[next];
    if (other.list.first == no_operation) break;
    const std::uint32_t wanted = home(table, other.source, other.tag);
    if (((next - wanted) & table.mask) < ((next - hole) & table.mask)) continue;
    table.slots[hole] = other;
    hole = next;
  }
  table.slots[hole].list = {};
}

void WaitingLists::grow(std::uint32_t rank) {
  const Table old = tables_[rank];
  const std::uint32_t slots = (old.mask + 1) * (old.mask < few_slots ? 2 : 4);
  tables_[rank] = {allocate(slots), slots - 1, old.used};
  for (std::uint32_t place = 0; place <= old.mask; ++place) {
    Slot& moved = old.slots[place];
    if (moved.list.first != no_operation) find(rank, moved.source, moved.tag) = moved;
    moved.list = {};
  }
  free_tables_[static_cast<std::size_t>(std::countr_zero(old.mask + 1))].push_back(old.slots);
}

WaitingLists::Slot* WaitingLists::allocate(std::uint32_t count) {
  std::vector<Slot*>& left = free_tables_[static_cast<std::size_t>(std::countr_zero(count))];
  if (!left.empty()) {
    Slot* slots = left.back();
    left.pop_back();
    return slots;
  }
  if (chunks_.back().size() - next_ < count) {
    chunks_.emplace_back(std::max<std::size_t>(chunk_slots, count));
    next_ = 0;
  }
  Slot* slots = chunks_.back().data() + next_;
  next_ += count;
  return slots;
}

}  // namespace chiplog::simulation
