// Asks for memory that will be needed soon.
#pragma once

namespace chiplog::simulation {

inline void prefetch(const void* memory) {
  __builtin_prefetch(memory, 1);
  // GCC takes a function that only prefetches for one without effects, and drops its calls; this is an effect.
  asm volatile("");
}

}  // namespace chiplog::simulation
