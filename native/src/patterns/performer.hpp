// Runs patterns over one operation and posting of a transport.
#pragma once

#include <optional>
#include <string>

#include "patterns/pattern_table.hpp"
#include "patterns/payload_checks.hpp"
#include "patterns/views/view.hpp"

namespace chiplog {

class Performer {
 public:
  virtual ~Performer() = default;

  // Room for messages of this size from now on. Collective.
  virtual void reserve(std::size_t message_bytes) = 0;
  virtual std::optional<std::string> check_payload(Role role, Rank peer, std::size_t bytes, patterns::Salts salts) = 0;
  virtual Interval perform(Role role, const SeriesSetup& setup) = 0;
};

// `V` is the transport itself or a view of it.
template <Transport V, Clock C>
class PerformerOf final : public Performer {
 public:
  PerformerOf(V& transport, C& clock)
      : bench_{transport, clock, transport.make_buffer(initial_bytes), transport.make_buffer(initial_bytes)} {}

  void reserve(std::size_t message_bytes) override {
    if constexpr (requires { bench_.transport.reserve(message_bytes); }) bench_.transport.reserve(message_bytes);
    if (message_bytes <= room_bytes_) return;
    bench_.out = bench_.transport.make_buffer(message_bytes);
    bench_.in = bench_.transport.make_buffer(message_bytes);
    room_bytes_ = message_bytes;
  }

  std::optional<std::string> check_payload(Role role, Rank peer, std::size_t bytes, patterns::Salts salts) override {
    if constexpr (has_passive_targets<V>) {
      return patterns::check_passive(bench_, role, peer, bytes, salts);
    } else {
      return patterns::check_messages(bench_, role, peer, bytes, salts);
    }
  }

  Interval perform(Role role, const SeriesSetup& setup) override {
    const auto& parts = patterns::table<V, C>[static_cast<std::size_t>(setup.pattern)];
    return (role == Role::client ? parts.client : parts.server)(bench_, setup);
  }

 private:
  static constexpr std::size_t initial_bytes = 4096;

  Bench<V, C> bench_;
  std::size_t room_bytes_ = initial_bytes;
};

// The same with a view of its own.
template <class V, Transport T, Clock C>
class ViewPerformer final : public Performer {
 public:
  ViewPerformer(T& transport, C& clock, const views::Viewer& viewer)
      : view_(transport, viewer), performer_(view_, clock) {}

  void reserve(std::size_t message_bytes) override { performer_.reserve(message_bytes); }
  std::optional<std::string> check_payload(Role role, Rank peer, std::size_t bytes, patterns::Salts salts) override {
    return performer_.check_payload(role, peer, bytes, salts);
  }
  Interval perform(Role role, const SeriesSetup& setup) override { return performer_.perform(role, setup); }

 private:
  V view_;
  PerformerOf<V, C> performer_;
};

}  // namespace chiplog
