// Runs patterns with one operation and one way of posting it.
#pragma once

#include <optional>
#include <string>

#include "patterns/list.hpp"
#include "patterns/part.hpp"
#include "patterns/payload_checks.hpp"

namespace chiplog {

class OperationRunner {
 public:
  virtual ~OperationRunner() = default;

  // Reserves room for messages of this size. Collective.
  virtual void reserve(std::size_t message_bytes) = 0;
  virtual std::optional<std::string> check_payload(Role role, Rank peer, std::size_t bytes, patterns::Salts salts) = 0;
  [[nodiscard]] virtual bool runs(const Pattern& pattern) const = 0;
  // This rank's part in a series. It refers to this runner.
  [[nodiscard]] virtual Part part(Role role, const SeriesSetup& setup) = 0;
};

// `M` is the view that offers the operation as messages.
template <MessageView M, Clock C>
class ViewRunner final : public OperationRunner {
 public:
  template <Messaging T>
  ViewRunner(T& transport, C& clock, const RankSettings& self) : work_(transport, clock, self, initial_bytes) {}

  void reserve(std::size_t message_bytes) override {
    work_.messages.reserve(message_bytes);
    if (message_bytes <= room_bytes_) return;
    work_.out = work_.messages.make_buffer(message_bytes);
    work_.in = work_.messages.make_buffer(message_bytes);
    room_bytes_ = message_bytes;
  }

  std::optional<std::string> check_payload(Role role, Rank peer, std::size_t bytes, patterns::Salts salts) override {
    if constexpr (M::has_passive_targets) {
      return patterns::check_passive(work_, role, peer, bytes, salts);
    } else {
      return patterns::check_messages(work_, role, peer, bytes, salts);
    }
  }

  bool runs(const Pattern& pattern) const override { return AllPatterns::runs_over<M>(pattern); }

  Part part(Role role, const SeriesSetup& setup) override { return AllPatterns::part(work_, role, setup); }

 private:
  static constexpr std::size_t initial_bytes = 4096;

  Workspace<M, C> work_;
  std::size_t room_bytes_ = initial_bytes;
};

}  // namespace chiplog
