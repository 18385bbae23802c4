// How much of a transfer goes on while a rank computes and calls nothing: the client posts a send, or a receive,
// computes for `delay_ns`, and waits. With a delay of 0 it is the transfer alone.
//
// A transfer ends when the client knows that the message is there: at the empty answer of the server that has received
// it, or at the message itself, for which it asked by an empty one. A send alone would be complete as soon as its
// buffer is free, which says nothing of where the message is.
#pragma once

#include "patterns/part.hpp"

namespace chiplog::patterns {

namespace detail {

inline WireCount overlap_wire_count(const SeriesSetup& setup) {
  return {2, static_cast<std::int64_t>(setup.message_bytes)};
}
inline std::int64_t one_busy_wait(const SeriesSetup& /*setup*/) { return 1; }
inline bool only_sends(Operation operation) { return operation == Operation::send; }

// Computes without a call of the library or the kernel; returns how long that took.
template <MessageView M, Clock C>
[[gnu::always_inline]] inline Ticks compute(Workspace<M, C>& work, const SeriesSetup& setup) {
  return setup.delay_ns > 0.0 ? work.clock.busy_wait(setup.delay_ns) : 0;
}

}  // namespace detail

// The client sends.
struct Overlap {
  static constexpr Pattern pattern{
      .name = "overlap",
      .direction = "round-trip",
      .delay = Delay::optional,
      .needs_posted_receives = true,
      .message_wire_count = detail::overlap_wire_count,
      .supports = detail::only_sends,
      .busy_waits = detail::one_busy_wait,
  };
  template <MessageView M>
  static constexpr bool runs_over = PostsReceives<M>;

  template <MessageView M, Clock C>
  static Part client(Workspace<M, C>& work, const SeriesSetup& setup) {
    return [&work, setup] {
      auto& [messages, clock, out, in] = work;
      const Ticks begin = clock.now();
      messages.post_send(server_rank, out, setup.message_bytes);
      const Ticks computed = detail::compute(work, setup);
      messages.wait_sends();
      messages.recv(server_rank, in, no_bytes);
      return Interval{begin, clock.now(), computed};
    };
  }

  template <MessageView M, Clock C>
  static Part server(Workspace<M, C>& work, const SeriesSetup& setup) {
    return [&work, setup] {
      auto& [messages, clock, out, in] = work;
      messages.recv(client_rank, in, setup.message_bytes);
      messages.send(client_rank, out, no_bytes);
      return Interval{};
    };
  }
};

// The client receives.
struct OverlapReceive {
  static constexpr Pattern pattern{
      .name = "overlap_receive",
      .direction = "round-trip",
      .delay = Delay::optional,
      .needs_posted_receives = true,
      .message_wire_count = detail::overlap_wire_count,
      .supports = detail::only_sends,
      .busy_waits = detail::one_busy_wait,
  };
  template <MessageView M>
  static constexpr bool runs_over = PostsReceives<M>;

  template <MessageView M, Clock C>
  static Part client(Workspace<M, C>& work, const SeriesSetup& setup) {
    return [&work, setup] {
      auto& [messages, clock, out, in] = work;
      const Ticks begin = clock.now();
      messages.post_recv(server_rank, in, setup.message_bytes);
      messages.send(server_rank, out, no_bytes);
      const Ticks computed = detail::compute(work, setup);
      messages.wait_recv();
      return Interval{begin, clock.now(), computed};
    };
  }

  template <MessageView M, Clock C>
  static Part server(Workspace<M, C>& work, const SeriesSetup& setup) {
    return [&work, setup] {
      auto& [messages, clock, out, in] = work;
      messages.recv(client_rank, in, no_bytes);
      messages.send(client_rank, out, setup.message_bytes);
      return Interval{};
    };
  }
};

}  // namespace chiplog::patterns
