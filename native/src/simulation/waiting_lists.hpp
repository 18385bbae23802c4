// The operations that wait at a rank for a source and a tag: a small hash table per rank, since few keys are in use at
// a time.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "simulation/huge_pages.hpp"
#include "simulation/lists.hpp"
#include "simulation/prefetch.hpp"

namespace chiplog::simulation {

class WaitingLists {
 public:
  // The list of a key; the key has no meaning while the list is empty.
  struct Slot {
    std::uint32_t source = 0;
    std::uint32_t tag = 0;
    List list;
  };

  explicit WaitingLists(std::uint32_t ranks);

  // The key's slot, or the free slot where it belongs; valid until the next claim() or release() of this rank.
  [[nodiscard]] Slot& find(std::uint32_t rank, std::uint32_t source, std::uint32_t tag) const {
    const Table& table = tables_[rank];
    for (std::uint32_t place = home(table, source, tag);; place = (place + 1) & table.mask) {
      Slot& slot = table.slots[place];
      if (slot.list.first == no_operation || (slot.source == source && slot.tag == tag)) return slot;
    }
  }
  // Gives a free slot, as returned by find(), to the key, with one operation in its list.
  void claim(std::uint32_t rank, Slot& slot, const Slot& filled);
  // Frees a slot whose list is empty.
  void release(std::uint32_t rank, const Slot& slot);

  template <class Visit>
  void each(const Visit& visit) const {
    for (const Table& table : tables_)
      for (std::uint32_t place = 0; place <= table.mask; ++place) visit(table.slots[place]);
  }

  void prefetch_table(std::uint32_t rank) const { simulation::prefetch(&tables_[rank]); }
  // Prefetches the table of the rank.
  void prefetch_slot(std::uint32_t rank, std::uint32_t source, std::uint32_t tag) const {
    const Table& table = tables_[rank];
    const std::uint32_t place = home(table, source, tag);
    simulation::prefetch(&table.slots[place]);
    simulation::prefetch(&table.slots[(place + 2) & table.mask]);  // a search often goes on
  }

 private:
  struct Table {
    Slot* slots = nullptr;
    std::uint32_t mask = 0;
    std::uint32_t used = 0;
  };

  // Fibonacci hashing: the highest bits of multiples of the golden ratio spread neighbouring keys evenly.
  [[nodiscard]] static std::uint32_t home(const Table& table, std::uint32_t source, std::uint32_t tag) {
    return (source * 0x9E3779B1U + tag * 0x85EBCA77U) >> std::countl_zero(table.mask);
  }
  void grow(std::uint32_t rank);
  // `count` free slots, a power of two.
  [[nodiscard]] Slot* allocate(std::uint32_t count);

  LargeVector<Table> tables_;
  std::vector<LargeVector<Slot>> chunks_;           // what the tables lie in
  std::size_t next_ = 0;                            // in the last chunk: what no table has had yet
  std::array<std::vector<Slot*>, 32> free_tables_;  // by the binary logarithm of their slots: left by tables that grew
};

}  // namespace chiplog::simulation
