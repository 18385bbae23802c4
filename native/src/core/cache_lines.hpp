// Cache lines that two cores write and read in turn.
#pragma once

#include <cstddef>

namespace chiplog {

inline constexpr std::size_t line_bytes = 64;
// Pairs of lines, because the adjacent-line prefetcher fetches two.
inline constexpr std::size_t apart_bytes = 128;

// Before this core writes there: other cores give up their copies meanwhile, and the store needs not wait for it.
inline void fetch_for_writing(const void* line) {
#if defined(__x86_64__)
  // The built-in becomes a prefetch for reading unless the compiler is told of a newer processor.
  asm volatile("prefetchw %0" : : "m"(*static_cast<const std::byte*>(line)));
#else
  __builtin_prefetch(line, 1);
#endif
}

// Between two looks at a line that another core is about to write.
inline void relax() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("isb");  // "yield" does nothing on most cores
#endif
}

}  // namespace chiplog
