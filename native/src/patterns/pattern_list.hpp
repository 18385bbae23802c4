// A list of pattern types, which yields the table of their facts and their parts.
#pragma once

#include <array>
#include <concepts>

#include "patterns/part.hpp"
#include "patterns/passive.hpp"

namespace chiplog {

// A pattern is a struct with
//   static constexpr Pattern pattern{...};                          its facts
//   template <MessageView M, Clock C>
//   static Part client(Workspace<M, C>& work, const SeriesSetup&);  what the client does in a sample; `work` outlives
//   it
//   ... server(...)                                                 the same of a server
// and, where it can't run over all views, the variable template `runs_over<M>`, and, where servers of operations that
// leave them out take turns, `passive_server(...)`.
template <class... P>
struct PatternList {
  static constexpr std::array<const Pattern*, sizeof...(P)> facts{&P::pattern...};

  // True if the pattern can run over such messages.
  template <MessageView M>
  [[nodiscard]] static bool runs_over(const Pattern& pattern) {
    return ((&pattern == &P::pattern && can_run<P, M>()) || ...);
  }

  template <MessageView M, Clock C>
  [[nodiscard]] static Part part(Workspace<M, C>& work, Role role, const SeriesSetup& setup) {
    Part made;
    ((setup.pattern == &P::pattern && (made = part_of<P>(work, role, setup), true)) || ...);
    return made;
  }

 private:
  template <class One, MessageView M>
  static constexpr bool can_run() {
    if constexpr (requires { One::template runs_over<M>; }) {
      return One::template runs_over<M>;
    } else {
      return true;
    }
  }

  template <class One, MessageView M, Clock C>
  static constexpr bool has_both_parts = requires(Workspace<M, C>& work, const SeriesSetup& setup) {
    { One::client(work, setup) } -> std::same_as<Part>;
    { One::server(work, setup) } -> std::same_as<Part>;
  };

  template <class One, MessageView M, Clock C>
  static Part part_of(Workspace<M, C>& work, Role role, const SeriesSetup& setup) {
    if constexpr (!can_run<One, M>()) {
      return {};
    } else if constexpr (!has_both_parts<One, M, C>) {
      static_assert(has_both_parts<One, M, C>, "a pattern has a client and a server, which give a Part");
      return {};
    } else if constexpr (M::has_passive_targets) {
      if (role == Role::server) {
        if constexpr (requires { One::passive_server(work, setup); }) {
          return One::passive_server(work, setup);
        } else {
          return patterns::passive_server(work, setup);
        }
      }
      return patterns::passive_client(work, setup, One::client(work, setup));
    } else {
      return role == Role::client ? One::client(work, setup) : One::server(work, setup);
    }
  }
};

}  // namespace chiplog
