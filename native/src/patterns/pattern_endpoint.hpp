// Every pattern over every operation that a transport has, behind the interface that the session drives.
#pragma once

#include <algorithm>
#include <array>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "chiplog/error.hpp"
#include "core/endpoint.hpp"
#include "patterns/busy_wait.hpp"
#include "patterns/performer.hpp"
#include "patterns/views/inline_messages.hpp"
#include "patterns/views/passive_operations.hpp"
#include "patterns/views/remote_writes.hpp"

namespace chiplog {

// What a transport or a clock may offer beyond its concept; each is used where it is there:
//   transport.carry_payloads(bool)   whether contents matter (simulated messages need none while they are timed)
//   transport.settle()               makes the simulated network idle before a sample
//   transport.settle_together(n)     the same, for n ranks that then begin at the same time
//   transport.flush()                what was sent has arrived when it returns; called after the last of the samples,
//                                    where no peer may expect this rank to repeat anything
//   transport.counters()             what happened on the way, for the record
//   transport.mpi_json()             the header's "mpi"
//   clock.frequency_hz(), clock.frequency_relative_error(), clock.measured_frequency_hz()
template <Transport T, Clock C>
class PatternEndpoint final : public Endpoint {
 public:
  PatternEndpoint(T& transport, C& clock, const views::Viewer& viewer)
      : transport_(transport), clock_(clock), rank_(viewer.rank) {
    make_performers(viewer);
    carry_payloads(false);
  }

  std::string transport_name() const override { return std::string(T::name); }
  Capabilities capabilities() override { return transport_.capabilities(); }
  std::size_t max_posted_sends() const override { return T::max_posted_sends; }
  std::string options_json() override { return transport_.options_json(); }

  std::vector<Counter> counters() override {
    if constexpr (requires(T transport) { transport.counters(); }) return transport_.counters();
    return {};
  }

  std::string mpi_json() override {
    if constexpr (requires(T transport) { transport.mpi_json(); }) return transport_.mpi_json();
    return "null";
  }

  ClockFacts clock_facts() override { return chiplog::clock_facts(clock_); }

  double measured_frequency_hz() override {
    if constexpr (requires(C clock) { clock.measured_frequency_hz(); }) return clock_.measured_frequency_hz();
    return 0.0;
  }

  double busy_wait_overhead_ns() override { return patterns::busy_wait_overhead_ns(clock_); }

  void reserve(const SeriesSetup& setup) override { performer(setup).reserve(setup.message_bytes); }

  std::optional<std::string> check_payload(const SeriesSetup& setup, const Link& link) override {
    const patterns::Salts salts{2 * payload_checks_, 2 * payload_checks_ + 1};
    ++payload_checks_;
    if (rank_ != link.client && rank_ != link.server) return std::nullopt;
    carry_payloads(true);
    const bool is_client = rank_ == link.client;
    auto mismatch = performer(setup).check_payload(is_client ? Role::client : Role::server,
                                                   is_client ? link.server : link.client, setup.message_bytes, salts);
    flush();
    carry_payloads(false);
    return mismatch;
  }

  void sample(std::span<const SeriesSetup> series, std::int64_t rounds, std::span<SeriesSamples> samples) override {
    chosen_.clear();
    for (std::size_t i = 0; i < series.size(); ++i) {
      const Role role = role_in(series[i]);
      if (role == Role::onlooker) continue;
      const bool timed_here = facts_of(series[i].pattern).timed_by == role;
      const auto more = static_cast<std::size_t>(rounds);
      if (timed_here) samples[i].durations_ns.reserve(samples[i].durations_ns.size() + more);
      if (series[i].delay_ns > 0.0) samples[i].waits_ns.reserve(samples[i].waits_ns.size() + more);
      chosen_.push_back({&performer(series[i]), role, as_seen_here(series[i]), timed_here, samples[i]});
    }
    const bool there_and_back = has_several_sizes(series);
    for (std::int64_t round = 0; round < rounds; ++round) {
      for (const Chosen& chosen : chosen_) take(chosen);
      // What a message leaves behind, such as an acknowledgement, is the next one's: each size follows both neighbours.
      if (there_and_back) std::reverse(chosen_.begin(), chosen_.end());
    }
    flush();
  }

 private:
  struct Chosen {
    Performer* performer;
    Role role;
    SeriesSetup setup;
    bool timed_here;
    std::reference_wrapper<SeriesSamples> samples;
  };
  // Of one operation. A list is posted like normal ones, by another pattern.
  struct Performers {
    std::unique_ptr<Performer> normal;
    std::unique_ptr<Performer> in_line;
  };

  [[nodiscard]] static bool has_several_sizes(std::span<const SeriesSetup> series) {
    return std::any_of(series.begin(), series.end(),
                       [&series](const SeriesSetup& one) { return one.message_bytes != series.front().message_bytes; });
  }

  void take(const Chosen& chosen) {
    settle();
    const Interval interval = chosen.performer->perform(chosen.role, chosen.setup);
    SeriesSamples& samples = chosen.samples;
    if (chosen.timed_here) samples.durations_ns.push_back(clock_.interval_ns(interval.begin, interval.end));
    if (interval.waited == 0) return;
    const auto waits = static_cast<double>(busy_waits(chosen.setup));
    samples.waits_ns.push_back(patterns::waited_ns(clock_, interval.waited) / waits);
  }

  // None for what the transport lacks: requests for it are refused.
  void make_performers(const views::Viewer& viewer) {
    of(Operation::send).normal = std::make_unique<PerformerOf<T, C>>(transport_, clock_);
    if constexpr (SendsInline<T>) of(Operation::send).in_line = through<views::InlineMessages<T>>(viewer);
    if constexpr (WritesRemotely<T>) make_writers<Operation::rdma_write, WritesInline<T>>(viewer);
    if constexpr (WritesWithImmediate<T>) {
      make_writers<Operation::rdma_write_immediate, WritesImmediateInline<T>>(viewer);
    }
    if constexpr (ReadsRemotely<T>) {
      of(Operation::rdma_read).normal = through<views::PassiveOperations<T, Operation::rdma_read>>(viewer);
    }
    if constexpr (AtomicOperations<T>) {
      of(Operation::atomic).normal = through<views::PassiveOperations<T, Operation::atomic>>(viewer);
    }
  }

  template <Operation operation, bool has_inline>
  void make_writers(const views::Viewer& viewer) {
    of(operation).normal = through<views::RemoteWrites<T, operation, Posting::normal>>(viewer);
    if constexpr (has_inline) {
      of(operation).in_line = through<views::RemoteWrites<T, operation, Posting::in_line>>(viewer);
    }
  }

  template <class V>
  std::unique_ptr<Performer> through(const views::Viewer& viewer) {
    return std::make_unique<ViewPerformer<V, T, C>>(transport_, clock_, viewer);
  }

  [[nodiscard]] Performers& of(Operation operation) { return performers_[static_cast<std::size_t>(operation)]; }
  [[nodiscard]] Performer& performer(const SeriesSetup& setup) {
    const Performers& both = of(setup.operation);
    return *(setup.posting == Posting::in_line ? both.in_line : both.normal);
  }

  [[nodiscard]] Role role_in(const SeriesSetup& setup) const {
    if (is_pairs(setup.pattern)) return setup.groups->role(rank_, setup.pairs);
    if (rank_ == patterns::client_rank) return Role::client;
    const bool takes_part = rank_ <= setup.peers || setup.pattern == Pattern::barrier;
    return takes_part ? Role::server : Role::onlooker;
  }

  [[nodiscard]] SeriesSetup as_seen_here(SeriesSetup setup) const {
    setup.self = rank_;
    if (is_pairs(setup.pattern)) setup.partner = setup.groups->partner(rank_);
    return setup;
  }

  void settle() {
    if constexpr (requires(T transport) { transport.settle(); }) transport_.settle();
  }

  void flush() {
    if constexpr (requires(T transport) { transport.flush(); }) transport_.flush();
  }

  void carry_payloads([[maybe_unused]] bool carried) {
    if constexpr (requires(T transport) { transport.carry_payloads(true); }) transport_.carry_payloads(carried);
  }

  T& transport_;
  C& clock_;
  Rank rank_;
  std::array<Performers, operation_names.size()> performers_;
  std::uint64_t payload_checks_ = 0;
  std::vector<Chosen> chosen_;
};

}  // namespace chiplog
