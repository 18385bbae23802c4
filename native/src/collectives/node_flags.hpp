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
  // The next barrier's number is greater by this. So one bit of a number is the distance of its place from the first
  // one, in bytes.
  static constexpr std::uint64_t step = apart_bytes;

  void announce(std::uint64_t barrier) { at(barrier).store(barrier, std::memory_order_release); }
  [[nodiscard]] bool has_come_to(std::uint64_t barrier) const {
    return at(barrier).load(std::memory_order_acquire) >= barrier;
  }
  // For the barrier after this one.
  void prepare_after(std::uint64_t barrier) const { fetch_for_writing(&at(barrier + step)); }
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

  static_assert(sizeof(Place) == step);

  [[nodiscard]] Flag& at(std::uint64_t barrier) { return places_[barrier / step % 2].flag; }
  [[nodiscard]] const Flag& at(std::uint64_t barrier) const { return places_[barrier / step % 2].flag; }

  Place places_[2];
};

// What lies in the shared memory for one rank. Two ranks' flags on one line take half the time as long as nothing at
// all happens between two barriers, and a third more as soon as anything does.
struct RankFlags {
  AlternatingFlag entered;
  AlternatingFlag released;  // written for those below in the tree
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
        other_(flags.size() == 2 ? flags[static_cast<std::size_t>(1 - rank)] : nullptr),
        flags_(std::move(flags)) {}

  // A whole barrier of this node. All ranks call either this, or both halves.
  template <class Idle>
  int meet(Idle&& idle) {
    if (ranks_ <= most_in_exchange) return exchange(idle);
    const int error = gather(idle);
    return error != 0 ? error : release(idle);
  }

  // Two ranks may do the same in two steps. What lies between two exchanges of flags is time that is lost to both, so
  // the first step is short: no call, and no register to save. Where the other is late, it returns false, and the
  // second step ends the barrier.
  [[nodiscard]] bool is_pair() const { return other_ != nullptr; }
  [[nodiscard, gnu::always_inline]] bool meet_at_once(int looks) {
    const std::uint64_t barrier = next();
    AlternatingFlag& own = own_->entered;
    own.announce(barrier);
    relax();  // a look too early takes the line away from its writer
    if (!comes_soon(other_->entered, barrier, looks)) return false;
    own.prepare_after(barrier);
    return true;
  }
  template <class Idle>
  int meet_late(Idle&& idle) {
    if (const int error = wait(other_->entered, idle); error != 0) return error;
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

  // A look is nothing but a load: the other rank may share this core.
  [[gnu::always_inline]] static bool comes_soon(const AlternatingFlag& flag, std::uint64_t barrier, int looks) {
    if (flag.has_come_to(barrier)) [[likely]]
      return true;
    for (int look = 1; look < looks; ++look) {
      relax();
      if (flag.has_come_to(barrier)) return true;
    }
    return false;
  }

  template <class Idle>
  [[gnu::always_inline]] int wait(const AlternatingFlag& flag, Idle&& idle) const {
    while (!comes_soon(flag, barrier_, looks_)) {
      if (const int error = idle(); error != 0) return error;
    }
    return 0;
  }

  std::uint64_t barrier_;
  int looks_;
  int ranks_;
  int rank_;
  RankFlags* own_;                 // null where there are no flags
  RankFlags* other_;               // null unless there are two ranks
  std::vector<RankFlags*> flags_;  // of all ranks
};

}  // namespace chiplog::collectives
