// The bare exchange that shared memory allows: two flags on two cache lines between two pinned processes.
// Usage: two_flags CPU_A CPU_B ROUND_TRIPS; prints the median over 200 blocks of half a round trip, in nanoseconds.
#include <sched.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <vector>

struct alignas(128) Flag {
  std::atomic<unsigned> value{0};
};

static void pin(int cpu) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(cpu, &set);
  sched_setaffinity(0, sizeof set, &set);
}

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  const int blocks = 200;
  const unsigned per_block = std::max(1u, static_cast<unsigned>(std::atoi(argv[3])) / blocks);
  void* page = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  auto* flags = new (page) Flag[2];
  const pid_t child = fork();
  const unsigned total = (blocks + 1) * per_block;
  if (child == 0) {
    pin(std::atoi(argv[2]));
    for (unsigned i = 1; i <= total; ++i) {
      while (flags[0].value.load(std::memory_order_acquire) != i) {
      }
      flags[1].value.store(i, std::memory_order_release);
    }
    _exit(0);
  }
  pin(std::atoi(argv[1]));
  std::vector<double> half_round_trips_ns;
  unsigned i = 1;
  for (int block = 0; block <= blocks; ++block) {  // the first block is warm-up
    const auto begin = std::chrono::steady_clock::now();
    for (const unsigned end = i + per_block; i < end; ++i) {
      flags[0].value.store(i, std::memory_order_release);
      while (flags[1].value.load(std::memory_order_acquire) != i) {
      }
    }
    const std::chrono::duration<double, std::nano> elapsed = std::chrono::steady_clock::now() - begin;
    if (block > 0) half_round_trips_ns.push_back(elapsed.count() / per_block / 2);
  }
  waitpid(child, nullptr, 0);
  std::nth_element(half_round_trips_ns.begin(), half_round_trips_ns.begin() + blocks / 2, half_round_trips_ns.end());
  std::printf("%.4f\n", half_round_trips_ns[blocks / 2]);
  return 0;
}
