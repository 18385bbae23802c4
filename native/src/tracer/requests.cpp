#include "tracer/requests.hpp"

#include <mutex>
#include <unordered_map>

#include "tracer/stream.hpp"

namespace chiplog::tracer {
namespace {

constexpr std::size_t ways = 8;
constexpr unsigned bucket_bits = 10;

struct alignas(64) Bucket {
  std::atomic<RequestKey> keys[ways];
  Posted posted[ways];
};

constinit Bucket buckets[std::size_t{1} << bucket_bits];

struct Overflow {
  std::mutex lock;
  std::unordered_multimap<RequestKey, Posted> posted;
};
// Never destroyed: requests may be completed while the process ends.
Overflow& overflow() {
  static Overflow* const made = new Overflow;
  return *made;
}
std::atomic<std::size_t> overflowing{0};

constexpr RequestKey being_written = 1;

Bucket& bucket_of(RequestKey key) {
  const std::uint64_t spread = static_cast<std::uint64_t>(key) * 0x9E3779B97F4A7C15U;
  return buckets[spread >> (64U - bucket_bits)];
}

bool take_place(std::atomic<RequestKey>& place) {
  if (place.load(std::memory_order_relaxed) != 0) return false;
  if (!has_threads) return true;
  RequestKey empty = 0;
  return place.compare_exchange_strong(empty, being_written, std::memory_order_acquire);
}

}  // namespace

void Requests::add(RequestKey key, const Posted& posted) {
  Bucket& bucket = bucket_of(key);
  for (std::size_t way = 0; way < ways; ++way) {
    if (!take_place(bucket.keys[way])) continue;
    bucket.posted[way] = posted;
    bucket.keys[way].store(key, std::memory_order_release);
    return;
  }
  const std::lock_guard guard(overflow().lock);
  overflow().posted.emplace(key, posted);
  overflowing.fetch_add(1, std::memory_order_relaxed);
}

// `visit` says whether it wants this one of a key's requests, and whether that goes.
template <class Visit>
bool Requests::visit(RequestKey key, Visit visit) {
  bool goes = false;
  Bucket& bucket = bucket_of(key);
  for (std::size_t way = 0; way < ways; ++way) {
    if (bucket.keys[way].load(std::memory_order_acquire) != key || !visit(bucket.posted[way], goes)) continue;
    if (goes) bucket.keys[way].store(0, std::memory_order_release);
    return true;
  }
  if (overflowing.load(std::memory_order_relaxed) == 0) return false;
  const std::lock_guard guard(overflow().lock);
  auto [place, end] = overflow().posted.equal_range(key);
  for (; place != end; ++place) {
    if (!visit(place->second, goes)) continue;
    if (goes) {
      overflow().posted.erase(place);
      overflowing.fetch_sub(1, std::memory_order_relaxed);
    }
    return true;
  }
  return false;
}

bool Requests::complete(RequestKey key, Posted& posted) {
  return visit(key, [&](Posted& kept, bool& goes) {
    if (!kept.is_active) return false;
    posted = kept;
    goes = !kept.is_persistent;
    kept.is_active = false;
    return true;
  });
}

bool Requests::remove(RequestKey key, Posted& posted, bool& was_active) {
  return visit(key, [&](Posted& kept, bool& goes) {
    posted = kept;
    was_active = kept.is_active;
    goes = true;
    return true;
  });
}

bool Requests::start(RequestKey key, std::uint32_t number) {
  return visit(key, [&](Posted& kept, bool&) {
    if (!kept.is_persistent || kept.is_active) return false;
    kept.number = number;
    kept.is_active = true;
    return true;
  });
}

bool Requests::find_prepared(RequestKey key, Posted& posted) {
  return visit(key, [&](Posted& kept, bool&) {
    if (!kept.is_persistent) return false;
    posted = kept;
    return true;
  });
}

}  // namespace chiplog::tracer
