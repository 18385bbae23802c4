#include "tracer/requests.hpp"

#include <sched.h>

#include <map>
#include <mutex>
#include <utility>

#include "tracer/stream.hpp"

namespace chiplog::tracer {
namespace {

constexpr std::size_t ways = 8;
constexpr unsigned bucket_bits = 10;

struct alignas(64) Bucket {
  RequestKey keys[ways];
  Posted posted[ways];
  std::atomic<bool> is_held;
};

constinit Bucket buckets[std::size_t{1} << bucket_bits];

// Requests that have no place in their bucket.
struct Overflow {
  std::mutex lock;
  std::multimap<RequestKey, Posted> posted;
};
// Never destroyed: requests may be completed while the process ends.
Overflow& overflow() {
  static Overflow* const made = new Overflow;
  return *made;
}
std::atomic<std::size_t> overflowing{0};
std::atomic<RequestOrder> last_order{0};

Bucket& bucket_of(RequestKey key) {
  const std::uint64_t spread = static_cast<std::uint64_t>(key) * 0x9E3779B97F4A7C15U;
  return buckets[spread >> (64U - bucket_bits)];
}

// Keeps other threads, where there are any, from the requests of a bucket, wherever they lie.
class Hold {
 public:
  explicit Hold(Bucket& bucket) : bucket_(has_threads ? &bucket : nullptr) {
    if (bucket_ == nullptr) return;
    while (bucket_->is_held.exchange(true, std::memory_order_acquire)) sched_yield();
  }
  ~Hold() {
    if (bucket_ != nullptr) bucket_->is_held.store(false, std::memory_order_release);
  }
  Hold(const Hold&) = delete;
  Hold& operator=(const Hold&) = delete;

 private:
  Bucket* bucket_;
};

// Where the request lies that has a key and was noted before a time: this thread's newest, or else the newest of all.
class Newest {
 public:
  // `wanted` says which ones count.
  template <class Wanted>
  Newest(Bucket& bucket, RequestKey key, RequestOrder before, Wanted wanted) : bucket_(bucket) {
    for (std::size_t way = 0; way < ways; ++way) {
      if (bucket.keys[way] == key && is_newer(bucket.posted[way], before) && wanted(bucket.posted[way])) {
        posted_ = &bucket.posted[way];
        way_ = way;
        if (!has_threads) return;
      }
    }
    if (overflowing.load(std::memory_order_relaxed) == 0) return;
    const std::lock_guard guard(overflow().lock);
    auto [place, end] = overflow().posted.equal_range(key);
    for (; place != end; ++place) {
      if (!is_newer(place->second, before) || !wanted(place->second)) continue;
      posted_ = &place->second;
      way_ = ways;
      place_ = place;
    }
  }

  explicit operator bool() const { return posted_ != nullptr; }
  Posted* operator->() const { return posted_; }
  Posted& operator*() const { return *posted_; }

  void remove() {
    if (way_ < ways) {
      bucket_.keys[way_] = 0;
      return;
    }
    const std::lock_guard guard(overflow().lock);
    overflow().posted.erase(place_);
    overflowing.fetch_sub(1, std::memory_order_relaxed);
  }

 private:
  [[nodiscard]] bool is_newer(const Posted& other, RequestOrder before) const {
    if (other.order > before) return false;
    return posted_ == nullptr || rank_of(*posted_) < rank_of(other);
  }

  static std::pair<bool, RequestOrder> rank_of(const Posted& posted) {
    return {posted.thread == this_thread, posted.order};
  }

  Bucket& bucket_;
  Posted* posted_ = nullptr;
  std::size_t way_ = ways;
  std::multimap<RequestKey, Posted>::iterator place_;
};

}  // namespace

RequestOrder Requests::noted() { return last_order.load(std::memory_order_acquire); }

void Requests::add(RequestKey key, const Posted& posted) {
  Bucket& bucket = bucket_of(key);
  const Hold hold(bucket);
  Posted numbered = posted;
  if (has_threads) {
    numbered.order = last_order.fetch_add(1, std::memory_order_acq_rel) + 1;
    numbered.thread = this_thread;
  }
  for (std::size_t way = 0; way < ways; ++way) {
    if (bucket.keys[way] != 0) continue;
    bucket.keys[way] = key;
    bucket.posted[way] = numbered;
    return;
  }
  const std::lock_guard guard(overflow().lock);
  overflow().posted.emplace(key, numbered);
  overflowing.fetch_add(1, std::memory_order_relaxed);
}

bool Requests::complete(RequestKey key, RequestOrder before, Posted& posted) {
  Bucket& bucket = bucket_of(key);
  const Hold hold(bucket);
  Newest completed(bucket, key, before, [](const Posted& kept) { return kept.is_active; });
  if (!completed) return false;
  posted = *completed;
  completed->is_active = false;
  if (!posted.is_persistent) completed.remove();
  return true;
}

bool Requests::remove(RequestKey key, RequestOrder before, Posted& posted, bool& was_active) {
  Bucket& bucket = bucket_of(key);
  const Hold hold(bucket);
  Newest freed(bucket, key, before, [](const Posted&) { return true; });
  if (!freed) return false;
  posted = *freed;
  was_active = posted.is_active;
  freed.remove();
  return true;
}

bool Requests::start(RequestKey key, std::uint32_t number) {
  Bucket& bucket = bucket_of(key);
  const Hold hold(bucket);
  Newest started(bucket, key, noted(), [](const Posted& kept) { return kept.is_persistent && !kept.is_active; });
  if (!started) return false;
  started->number = number;
  started->is_active = true;
  return true;
}

bool Requests::find_prepared(RequestKey key, Posted& posted) {
  Bucket& bucket = bucket_of(key);
  const Hold hold(bucket);
  Newest prepared(bucket, key, noted(), [](const Posted& kept) { return kept.is_persistent; });
  if (!prepared) return false;
  posted = *prepared;
  return true;
}

}  // namespace chiplog::tracer
