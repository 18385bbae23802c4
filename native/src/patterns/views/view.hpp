// Presents an operation of a transport as messages, so that every pattern can run over it.
#pragma once

#include <chrono>
#include <concepts>
#include <cstddef>
#include <span>
#include <type_traits>

#include "chiplog/abilities.hpp"
#include "chiplog/remote_memory.hpp"

namespace chiplog {

// This rank, and how long it waits for another one.
struct RankSettings {
  Rank rank = 0;
  int ranks = 2;
  std::chrono::nanoseconds time_limit{};
};

// What patterns run over: messages, and
//   reserve(bytes)              room for messages of this size from now on; collective
//   has_passive_targets         targets take no part, and the answer of a peer is the completion of the operation
//   counter_bytes               of the end of a message, what is not the sender's payload
//   landed(peer, buffer, bytes) where the last message of `peer`, received into `buffer`, is
template <class V>
concept MessageView = Messaging<V> && requires(V view, typename V::Buffer& buffer, Rank peer, std::size_t bytes) {
  typename V::Abilities;
  { V::has_passive_targets } -> std::convertible_to<bool>;
  { V::counter_bytes } -> std::convertible_to<std::size_t>;
  { view.reserve(bytes) } -> std::same_as<void>;
  { view.landed(peer, buffer, bytes) } -> std::same_as<std::span<std::byte>>;
};

namespace views {

// What all views have in common. Empty messages, by which patterns keep in step, are the transport's own in all of
// them.
template <Messaging T>
class View {
 public:
  using Buffer = typename T::Buffer;
  using Abilities = std::conditional_t<offers<T, ability::Settles>, AbilityList<ability::Settles>, AbilityList<>>;

  explicit View(T& transport) : transport_(transport) {}

  // In simulated networks; see ability::Settles.
  void settle()
    requires offers<T, ability::Settles>
  {
    transport_.settle();
  }
  void settle_together(int parties)
    requires offers<T, ability::Settles>
  {
    transport_.settle_together(parties);
  }

  void begin_list()
    requires CollectsPosts<T>
  {
    transport_.begin_list();
  }
  void end_list()
    requires CollectsPosts<T>
  {
    transport_.end_list();
  }

 protected:
  T& transport_;
};

}  // namespace views
}  // namespace chiplog
