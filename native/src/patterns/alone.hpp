// What each node does by itself, without a message: so much arithmetic, a copy in memory, and how long programs that
// are not of this run kept its CPUs. All ranks do it at the same time. A slow CPU is told from a slow link by these.
#pragma once

#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

#include "core/other_programs.hpp"
#include "patterns/part.hpp"

namespace chiplog::patterns {

namespace detail {

// Each rank is a pair with itself, and times itself.
inline Position alone(const SeriesSetup& /*setup*/, Rank rank) { return {Role::client, rank}; }
inline std::vector<Link> each_rank(const SeriesSetup& setup) {
  std::vector<Link> links;
  for (Rank rank = 0; rank < setup.ranks; ++rank) links.push_back({rank, rank});
  return links;
}
inline WireCount nothing_on_the_wire(const SeriesSetup& /*setup*/) { return {}; }
inline bool only_messages(Operation operation) { return operation == Operation::send; }

constexpr Pattern pattern_alone(std::string_view name) {
  return {.name = name,
          .direction = "call",
          .several_clients = true,
          .records_each_pair = true,
          .message_wire_count = nothing_on_the_wire,
          .supports = only_messages,
          .position = alone,
          .links = each_rank};
}

// A simulated CPU has no work of its own to do: it computes for so long, longer where it is a slow one.
inline constexpr double simulated_work_ns = 1'000'000.0;

}  // namespace detail

// A chain of dependent multiplications and additions, which neither memory nor another core can speed up or slow down.
struct FixedWork {
  static constexpr Pattern pattern = detail::pattern_alone("fixed_work");
  template <MessageView M>
  static constexpr bool runs_over = !M::has_passive_targets;
  static constexpr int steps = 500'000;  // about a millisecond

  template <MessageView M, Clock C>
  static Part client(Workspace<M, C>& work, const SeriesSetup& setup) {
    return [&clock = work.clock, state = static_cast<std::uint64_t>(setup.self) + 1]() mutable {
      const Ticks begin = clock.now();
      if constexpr (offers<C, ability::RunsInVirtualTime>) {
        clock.compute(detail::simulated_work_ns);
      } else {
        for (int step = 0; step < steps; ++step) {
          state = state * 6364136223846793005U + 1442695040888963407U;
          asm volatile("" : "+r"(state));
        }
      }
      return Interval{begin, clock.now()};
    };
  }
  template <MessageView M, Clock C>
  static Part server(Workspace<M, C>& work, const SeriesSetup& setup) {
    return client(work, setup);
  }
};

// A copy within the node's memory, more than most caches hold.
struct MemoryCopy {
  static constexpr Pattern pattern = detail::pattern_alone("memory_copy");
  template <MessageView M>
  static constexpr bool runs_over = !M::has_passive_targets;
  static constexpr std::size_t bytes = 8 << 20;

  template <MessageView M, Clock C>
  static Part client(Workspace<M, C>& work, const SeriesSetup& /*setup*/) {
    if constexpr (offers<C, ability::RunsInVirtualTime>) {
      return [&clock = work.clock] {
        const Ticks begin = clock.now();
        clock.compute(detail::simulated_work_ns);
        return Interval{begin, clock.now()};
      };
    } else {
      const auto memory = std::make_shared<std::vector<char>>(2 * bytes, '\1');
      return [&clock = work.clock, memory] {
        char* const from = memory->data();
        const Ticks begin = clock.now();
        std::memcpy(from + bytes, from, bytes);
        asm volatile("" : : "r"(from) : "memory");
        return Interval{begin, clock.now()};
      };
    }
  }
  template <MessageView M, Clock C>
  static Part server(Workspace<M, C>& work, const SeriesSetup& setup) {
    return client(work, setup);
  }
};

// No time of this pattern's own: a sample is how much of each second other programs had of this rank's CPUs, since the
// record before.
struct OtherProgramsTime {
  static constexpr Pattern pattern = detail::pattern_alone("other_programs");
  template <MessageView M>
  static constexpr bool runs_over = !M::has_passive_targets;

  template <MessageView M, Clock C>
  static Part client(Workspace<M, C>& work, const SeriesSetup& /*setup*/) {
    if constexpr (offers<C, ability::RunsInVirtualTime>) {
      return [] { return Interval{}; };
    } else {
      return [&clock = work.clock] {
        constexpr Ticks many = 1'000'000;
        const double ns_a_tick = clock.interval_ns(0, many) / static_cast<double>(many);
        return Interval{0, static_cast<Ticks>(OtherPrograms::of_this_node().share() * 1e9 / ns_a_tick)};
      };
    }
  }
  template <MessageView M, Clock C>
  static Part server(Workspace<M, C>& work, const SeriesSetup& setup) {
    return client(work, setup);
  }
};

}  // namespace chiplog::patterns
