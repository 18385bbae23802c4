// An operation of a transport as if it were messages, so that every pattern runs over it.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>

#include "chiplog/error.hpp"
#include "chiplog/remote_memory.hpp"

namespace chiplog::views {

// Who looks through it.
struct Viewer {
  Rank rank = 0;
  int ranks = 2;
  std::chrono::nanoseconds time_limit{};
};

// What all views have in common. Empty messages, by which patterns keep in step, are the transport's own in all of
// them.
template <Transport T>
class View {
 public:
  static constexpr std::string_view name = T::name;

  explicit View(T& transport) : transport_(transport) {}

  [[nodiscard]] Capabilities capabilities() const { return transport_.capabilities(); }
  [[nodiscard]] std::string options_json() const { return transport_.options_json(); }

  // In simulated networks: see PatternEndpoint.
  void settle()
    requires requires(T& transport) { transport.settle(); }
  {
    transport_.settle();
  }
  void settle_together(int parties)
    requires requires(T& transport) { transport.settle_together(1); }
  {
    transport_.settle_together(parties);
  }

  void begin_list()
    requires CollectsPosts<T>
  {
    transport_.begin_list();
  }
  void end_list()
    requires CollectsPosts<T>
  {
    transport_.end_list();
  }

 protected:
  T& transport_;
};

// Whose posted operations the library need not begin before they are waited for (MPI's).
template <class T>
inline constexpr bool begins_at_wait = requires { requires T::operations_begin_at_wait; };

}  // namespace chiplog::views
