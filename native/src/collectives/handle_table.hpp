// What is known of handles: communicators, say.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

namespace chiplog::collectives {

// A state for each handle. Its place stays the same until it is removed, and is then kept for the next one, so that a
// program that makes and frees handles in turn comes to the same memory each time and asks for no more.
template <class Handle, class State>
class HandleTable {
 public:
  struct Entry : State {
    Handle handle{};
    Entry* next = nullptr;  // of the same chain, or of the spare ones
  };

  constexpr HandleTable() = default;
  ~HandleTable() {
    for (Entry* entry : chains_) end(entry);
    end(spare_);
  }
  HandleTable(const HandleTable&) = delete;
  HandleTable& operator=(const HandleTable&) = delete;

  // The entry of `handle`, or null if the table has none.
  [[nodiscard]] Entry* find(Handle handle) const {
    Entry* entry = chains_[chain_of(handle)];
    while (entry != nullptr && entry->handle != handle) entry = entry->next;
    return entry;
  }

  // For a handle that isn't there.
  Entry& add(Handle handle, State state) {
    Entry* const entry = spare_ == nullptr ? new Entry : spare_;
    if (entry == spare_) spare_ = entry->next;
    static_cast<State&>(*entry) = std::move(state);
    entry->handle = handle;
    entry->next = std::exchange(chains_[chain_of(handle)], entry);
    return *entry;
  }

  // Of one that is there.
  void remove(Entry& entry) {
    Entry** place = &chains_[chain_of(entry.handle)];
    while (*place != &entry) place = &(*place)->next;
    *place = entry.next;
    entry.next = std::exchange(spare_, &entry);
  }

  template <class Visit>
  void for_each(Visit visit) {
    for (Entry* entry : chains_) {
      for (; entry != nullptr; entry = entry->next) visit(*entry);
    }
  }

 private:
  static constexpr int chain_bits = 8;

  // Handles are addresses, or small numbers that differ in their lowest bits: a multiplication by 2^64 over the golden
  // ratio spreads both (Knuth, The Art of Computer Programming 3, section 6.4).
  static std::size_t chain_of(Handle handle) {
    std::uint64_t key = 0;
    if constexpr (std::is_pointer_v<Handle>) {
      key = std::bit_cast<std::uintptr_t>(handle);
    } else {
      key = static_cast<std::uint64_t>(handle);
    }
    return (key * 0x9E3779B97F4A7C15U) >> (64 - chain_bits);
  }

  static void end(Entry* chain) {
    while (chain != nullptr) delete std::exchange(chain, chain->next);
  }

  std::array<Entry*, std::size_t{1} << chain_bits> chains_{};
  Entry* spare_ = nullptr;
};

}  // namespace chiplog::collectives
