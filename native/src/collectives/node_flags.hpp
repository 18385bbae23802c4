// The ranks of one node meet in shared memory: flags that only grow, each written by one rank.
#pragma once

#include <atomic>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/cache_lines.hpp"

namespace chiplog::collectives {

// The number of the barrier that a rank has come to.
using Flag = std::atomic<std::uint64_t>;
static_assert(Flag::is_always_lock_free, "ranks are processes: an atomic must be without a lock");

// One flag in two places, each on lines of its own: barriers use them in turn. A rank that leaves a barrier knows that
// nobody looks any more at its place of the one before, and fetches it for the next: the store there is seen at once.
class AlternatingFlag {
 public:
  // The next barrier's number is greater by this, and the first one's is this: so a number's last byte is the distance
  // of its place from the first one, in bytes.
  static constexpr std::uint64_t step = apart_bytes;

  void announce(std::uint64_t barrier) { at(barrier).store(barrier, std::memory_order_release); }
  // Where others see it.
  [[nodiscard]] const Flag& place_of(std::uint64_t barrier) const { return at(barrier); }
  // For the barrier after this one.
  void prepare_after(std::uint64_t barrier) const { fetch_for_writing(&at(barrier - step)); }
  // The last barrier that was announced.
  [[nodiscard]] std::uint64_t latest() const {
    const std::uint64_t even = at(0).load(std::memory_order_relaxed);
    const std::uint64_t odd = at(step).load(std::memory_order_relaxed);
    return even > odd ? even : odd;
  }

 private:
  struct alignas(apart_bytes) Place {
    Flag flag;
  };

  static_assert(sizeof(Place) == step && 2 * step == 1U << 8);

  // Compilers make two steps of a number's division by `step`.
  [[nodiscard]] static std::size_t distance(std::uint64_t barrier) { return static_cast<std::uint8_t>(barrier); }
  [[nodiscard]] Flag& at(std::uint64_t barrier) {
    return *reinterpret_cast<Flag*>(reinterpret_cast<std::byte*>(places_) + distance(barrier));
  }
  [[nodiscard]] const Flag& at(std::uint64_t barrier) const {
    return *reinterpret_cast<const Flag*>(reinterpret_cast<const std::byte*>(places_) + distance(barrier));
  }

  Place places_[2];
};

// What lies in the shared memory for one rank. Two ranks' flags on one line take half the time as long as nothing at
// all happens between two barriers, and a third more as soon as anything does.
struct RankFlags {
  AlternatingFlag entered;
  AlternatingFlag released;  // written for those below in the tree
};

// A look is nothing but a load: the other rank may share this core.
[[gnu::always_inline]] inline bool comes_soon(const Flag& place, std::uint64_t barrier, int looks) {
  if (place.load(std::memory_order_acquire) >= barrier) [[likely]]
    return true;
  for (int look = 1; look < looks; ++look) {
    relax();
    if (place.load(std::memory_order_acquire) >= barrier) return true;
  }
  return false;
}

// All that a barrier of two ranks takes, to be kept where it is reached soonest. What lies between two exchanges of
// flags is time that is lost to both, so there is no call in it, and no register to save.
struct PairFlags {
  std::uint64_t barrier = 0;  // the last one's number
  AlternatingFlag* own = nullptr;
  const AlternatingFlag* other = nullptr;

  // False where the other rank is late: the barrier has begun then, and NodeFlags::meet_late ends it.
  [[nodiscard, gnu::always_inline]] bool meet_at_once(int looks) {
    AlternatingFlag& mine = *own;
    barrier += AlternatingFlag::step;
    const std::uint64_t number = barrier;
    mine.announce(number);
    const Flag& place = other->place_of(number);
    asm volatile("" : : "r"(&place));  // known by here: nothing is done during a pause
    relax();                           // a look too early takes the line away from its writer
    if (!comes_soon(place, number, looks)) return false;
    mine.prepare_after(number);
    return true;
  }
};

// One rank's end. `Idle` is called whenever a number of looks was in vain; it returns 0 to go on, else an error that
// the waiting call returns.
class NodeFlags {
 public:
  // `flags` are those of all ranks, in their order, wherever each rank has its own; no rank has announced a barrier
  // beyond `begun`, which is the same on all of them. `looks` go between two calls of Idle.
  NodeFlags(std::vector<RankFlags*> flags, int rank, int looks, std::uint64_t begun = 0)
      : barrier_(begun),
        looks_(looks),
        ranks_(static_cast<int>(flags.size())),
        rank_(rank),
        own_(flags.empty() ? nullptr : flags[static_cast<std::size_t>(rank)]),
        flags_(std::move(flags)) {}

  // A whole barrier of this node. All ranks call either this, or both halves.
  template <class Idle>
  int meet(Idle&& idle) {
    if (ranks_ <= most_in_exchange) return exchange(idle);
    const int error = gather(idle);
    return error != 0 ? error : release(idle);
  }

  // Two ranks may do the same with what `lend` returns. Nothing but `lend` is called then until `take_back` has told
  // the number of the last barrier. Where the other rank is late, `take_back` and `meet_late` end the barrier; what was
  // lent may go on after that.
  [[nodiscard]] bool is_pair() const { return ranks_ == 2; }
  [[nodiscard]] PairFlags lend() const { return {barrier_, &own_->entered, &other().entered}; }
  void take_back(const PairFlags& lent) { barrier_ = lent.barrier; }
  template <class Idle>
  int meet_late(Idle&& idle) {
    if (const int error = wait(other().entered, idle); error != 0) return error;
    own_->entered.prepare_after(barrier_);
    return 0;
  }

  // First half: on rank 0 it returns when all have called it, elsewhere when those below have.
  template <class Idle>
  int gather(Idle&& idle) {
    next();
    for (int child = first_child(); child < end_of_children(); ++child) {
      if (const int error = wait(flags_of(child).entered, idle); error != 0) return error;
    }
    own_->entered.announce(barrier_);
    return 0;
  }

  // Second half: returns when rank 0 has called it.
  template <class Idle>
  int release(Idle&& idle) {
    if (rank_ != 0) {
      const int parent = (rank_ - 1) / fan_in;
      if (const int error = wait(flags_of(parent).released, idle); error != 0) return error;
    }
    if (first_child() < ranks_) {
      own_->released.announce(barrier_);
      own_->released.prepare_after(barrier_);
    }
    own_->entered.prepare_after(barrier_);
    return 0;
  }

 private:
  // Up to here all look at all flags, which takes one passage of a line and no release; a tree takes two a level.
  static constexpr int most_in_exchange = 8;
  static constexpr int fan_in = 8;

  std::uint64_t next() { return barrier_ += AlternatingFlag::step; }

  [[nodiscard]] RankFlags& flags_of(int rank) const { return *flags_[static_cast<std::size_t>(rank)]; }
  [[nodiscard]] const RankFlags& other() const { return flags_of(1 - rank_); }  // of two
  [[nodiscard]] int first_child() const { return fan_in * rank_ + 1; }
  [[nodiscard]] int end_of_children() const {
    const int end = first_child() + fan_in;
    return end < ranks_ ? end : ranks_;
  }

  template <class Idle>
  int exchange(Idle&& idle) {
    own_->entered.announce(next());
    relax();  // a look too early takes the line away from its writer
    for (const RankFlags* other : flags_) {
      if (other == own_) continue;  // a look at the own flag would only slow the next write
      if (const int error = wait(other->entered, idle); error != 0) return error;
    }
    own_->entered.prepare_after(barrier_);
    return 0;
  }

  template <class Idle>
  [[gnu::always_inline]] int wait(const AlternatingFlag& flag, Idle&& idle) const {
    while (!comes_soon(flag.place_of(barrier_), barrier_, looks_)) {
      if (const int error = idle(); error != 0) return error;
    }
    return 0;
  }

  std::uint64_t barrier_;
  int looks_;
  int ranks_;
  int rank_;
  RankFlags* own_;                 // null where there are no flags
  std::vector<RankFlags*> flags_;  // of all ranks
};

}  // namespace chiplog::collectives
