#include "core/placement.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <new>
#include <string>

#include "chiplog/median.hpp"
#include "core/machine_clock.hpp"

namespace chiplog {
namespace {

constexpr std::size_t page_bytes = 4096;
constexpr std::uint64_t blocks = 11;
constexpr std::uint64_t round_trips_a_block = 10;
constexpr std::uint64_t started_patience_ns = 5'000'000;

// True if `flag` reached `value` before `deadline_ns` of CLOCK_MONOTONIC_RAW.
bool wait_for(const std::atomic<std::uint64_t>& flag, std::uint64_t value, std::uint64_t deadline_ns) {
  constexpr int looks_between_times = 512;
  while (true) {
    for (int i = 0; i < looks_between_times; ++i) {
      if (flag.load(std::memory_order_acquire) == value) return true;
    }
    if (raw_now_ns() > deadline_ns) return false;
  }
}

void* map_shared(int descriptor) {
  const int flags = descriptor < 0 ? MAP_SHARED | MAP_ANONYMOUS : MAP_SHARED;
  void* memory = mmap(nullptr, page_bytes, PROT_READ | PROT_WRITE, flags, descriptor, 0);
  return memory == MAP_FAILED ? nullptr : memory;
}

std::string unguessable_name() {
  std::array<unsigned char, 16> bytes{};
  if (getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size())) return {};
  std::string name = "/chiplog-";
  std::array<char, 3> digits{};
  for (const unsigned char byte : bytes) {
    std::snprintf(digits.data(), digits.size(), "%02x", byte);
    name += digits.data();
  }
  return name;
}

void* open_page(const std::string& name, int flags) {
  const int descriptor = shm_open(name.c_str(), flags, 0600);
  if (descriptor < 0) return nullptr;
  const bool sized = (flags & O_CREAT) == 0 || ftruncate(descriptor, page_bytes) == 0;
  void* memory = sized ? map_shared(descriptor) : nullptr;
  close(descriptor);
  if (memory == nullptr && (flags & O_CREAT) != 0) shm_unlink(name.c_str());
  return memory;
}

}  // namespace

PlacementPage::PlacementPage(void* memory) : flags_(new (memory) Flags) {}

PlacementPage::~PlacementPage() { munmap(flags_, page_bytes); }

std::unique_ptr<PlacementPage> PlacementPage::make_anonymous() {
  void* memory = map_shared(-1);
  return memory == nullptr ? nullptr : std::unique_ptr<PlacementPage>(new PlacementPage(memory));
}

std::unique_ptr<PlacementPage> PlacementPage::agree(Bootstrap& bootstrap, bool ranks_share_host) {
  void* memory = nullptr;
  std::string name;
  if (bootstrap.rank() == 0 && ranks_share_host) {
    name = unguessable_name();
    if (!name.empty()) memory = open_page(name, O_RDWR | O_CREAT | O_EXCL);
  }
  const std::string agreed = bootstrap.broadcast(memory != nullptr ? name : std::string{});
  if (bootstrap.rank() == 1 && !agreed.empty()) memory = open_page(agreed, O_RDWR);
  // Both construct it before either goes on, because the constructor sets the flags to 0 again.
  std::unique_ptr<PlacementPage> page(memory == nullptr ? nullptr : new PlacementPage(memory));
  const std::vector<std::string> have = bootstrap.all_gather(page ? "1" : "0");
  if (bootstrap.rank() == 0 && page) shm_unlink(name.c_str());
  return have[0] == "1" && have[1] == "1" ? std::move(page) : nullptr;
}

// Each call starts from a number of its own, so that values left by an abandoned call are never taken for an answer.
std::optional<double> PlacementPage::round_trip_ns(Rank rank, std::chrono::microseconds patience) {
  const std::uint64_t first = (++calls_ << 32U) + 1;
  const std::uint64_t last = first + blocks * round_trips_a_block;
  const std::uint64_t arrival_deadline =
      raw_now_ns() + static_cast<std::uint64_t>(std::chrono::nanoseconds(patience).count());
  if (rank == 1) {
    if (!wait_for(flags_->ping, first, arrival_deadline)) return std::nullopt;
    const std::uint64_t deadline = raw_now_ns() + started_patience_ns;
    for (std::uint64_t count = first; count < last; ++count) {
      flags_->pong.store(count, std::memory_order_release);
      if (!wait_for(flags_->ping, count + 1, deadline)) return std::nullopt;
    }
    flags_->pong.store(last, std::memory_order_release);
    return std::nullopt;
  }
  flags_->ping.store(first, std::memory_order_release);
  if (!wait_for(flags_->pong, first, arrival_deadline)) return std::nullopt;
  const std::uint64_t deadline = raw_now_ns() + started_patience_ns;
  std::array<double, blocks> block_ns{};
  std::uint64_t count = first;
  for (double& duration : block_ns) {
    const std::uint64_t begin = raw_now_ns();
    for (std::uint64_t trip = 0; trip < round_trips_a_block; ++trip) {
      flags_->ping.store(++count, std::memory_order_release);
      if (!wait_for(flags_->pong, count, deadline)) return std::nullopt;
    }
    duration = static_cast<double>(raw_now_ns() - begin) / static_cast<double>(round_trips_a_block);
  }
  return median(block_ns);
}

}  // namespace chiplog
