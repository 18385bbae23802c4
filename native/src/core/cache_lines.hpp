// Cache lines that two cores write and read in turn.
#pragma once

#include <cstddef>

namespace chiplog {

inline constexpr std::size_t line_bytes = 64;
// Two lines, because the adjacent-line prefetcher fetches pairs.
inline constexpr std::size_t apart_bytes = 128;

// Call it some time before this core writes there: other cores give up their copies meanwhile, so the store need not
// wait.
inline void fetch_for_writing(const void* line) {
#if defined(__x86_64__)
  // The compiler's built-in is only a prefetch for reading unless a newer processor is selected.
  asm volatile("prefetchw %0" : : "m"(*static_cast<const std::byte*>(line)));
#else
  __builtin_prefetch(line, 1);
#endif
}

// Call it between two reads of a line that another core is about to write, where the wait is short: the second read
// does not begin before the first has ended. Reads that overlap ask for the line again as soon as its writer has asked
// for it, and fill this core with work that is thrown away once the line has changed. It takes some nanoseconds,
// while the pause of `relax` lasts ten times as long on some processors.
inline void await_reads() {
#if defined(__x86_64__)
  __builtin_ia32_lfence();
  __builtin_ia32_lfence();  // the second one leaves the line to its writer a little longer
#elif defined(__aarch64__)
  asm volatile("isb");
#endif
}

// Call it between two reads of a line that another core is about to write.
inline void relax() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("isb");  // "yield" does nothing on most cores
#endif
}

}  // namespace chiplog
