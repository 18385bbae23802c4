// Prefetches memory that will be needed soon.
#pragma once

namespace chiplog::simulation {

inline void prefetch(const void* memory) {
  __builtin_prefetch(memory, 1);
  // GCC treats a function that only prefetches as free of side effects and drops its calls; this statement is one.
  asm volatile("");
}

}  // namespace chiplog::simulation
