// A transport and a clock with every pattern over every operation, behind the interface that the session drives.
#pragma once

#include <algorithm>
#include <array>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "chiplog/contract.hpp"
#include "chiplog/error.hpp"
#include "core/endpoint.hpp"
#include "patterns/busy_wait.hpp"
#include "patterns/operation_runner.hpp"
#include "patterns/views/inline_messages.hpp"
#include "patterns/views/passive_operations.hpp"
#include "patterns/views/plain_messages.hpp"
#include "patterns/views/remote_writes.hpp"

namespace chiplog {

template <Transport T, Clock C>
class PatternEndpoint final : public Endpoint {
 public:
  static_assert(TransportContract<T>::holds && ClockContract<C>::holds);

  // `make_transport()` and `make_clock()` give what the endpoint then owns.
  template <class MakeTransport, class MakeClock>
  PatternEndpoint(const RankSettings& self, MakeTransport make_transport, MakeClock make_clock)
      : transport_(make_transport()), clock_(make_clock()), rank_(self.rank) {
    make_runners(self);
    carry_payloads(false);
  }

  std::string transport_name() const override { return std::string(T::name); }
  Patterns patterns() const override { return AllPatterns::facts; }
  Capabilities capabilities() override { return transport_.capabilities(); }
  std::size_t max_posted_sends() const override { return T::max_posted_sends; }
  std::string options_json() override { return transport_.options_json(); }

  std::vector<Counter> counters() override {
    if constexpr (offers<T, ability::Counts>) return transport_.counters();
    return {};
  }

  Hosts hosts() override {
    if constexpr (offers<T, ability::SimulatesHosts>) return transport_.hosts();
    return Hosts::real;
  }

  std::string mpi_json() override {
    if constexpr (offers<T, ability::DescribesMpi>) return transport_.mpi_json();
    return "null";
  }

  ClockFacts clock_facts() override { return chiplog::clock_facts(clock_); }

  double measured_frequency_hz() override {
    if constexpr (offers<C, ability::MeasuresFrequency>) return clock_.measured_frequency_hz();
    return 0.0;
  }

  double busy_wait_overhead_ns() override { return patterns::busy_wait_overhead_ns(clock_); }

  void reserve(const SeriesSetup& setup) override {
    if (!runner(setup).runs(*setup.pattern)) {
      throw UsageError("pattern " + std::string(setup.pattern->name) + " does not run over " +
                       std::string(name_of(setup.operation)) + " on " + transport_name());
    }
    runner(setup).reserve(setup.message_bytes);
  }

  std::optional<std::string> check_payload(const SeriesSetup& setup, const Link& link) override {
    const patterns::Salts salts{2 * payload_checks_, 2 * payload_checks_ + 1};
    ++payload_checks_;
    if (rank_ != link.client && rank_ != link.server) return std::nullopt;
    carry_payloads(true);
    const bool is_client = rank_ == link.client;
    auto mismatch = runner(setup).check_payload(is_client ? Role::client : Role::server,
                                                is_client ? link.server : link.client, setup.message_bytes, salts);
    flush();
    carry_payloads(false);
    return mismatch;
  }

  void sample(std::span<const SeriesSetup> series, std::int64_t rounds, std::span<SeriesSamples> samples) override {
    chosen_.clear();
    for (std::size_t i = 0; i < series.size(); ++i) {
      const Pattern& pattern = *series[i].pattern;
      const Position here = pattern.position(series[i], rank_);
      if (here.role == Role::onlooker) continue;
      const bool timed_here = pattern.timed_by == here.role;
      const auto more = static_cast<std::size_t>(rounds);
      if (timed_here) samples[i].durations_ns.reserve(samples[i].durations_ns.size() + more);
      if (series[i].delay_ns > 0.0) samples[i].waits_ns.reserve(samples[i].waits_ns.size() + more);
      SeriesSetup setup = series[i];
      setup.self = rank_;
      setup.partner = here.partner;
      chosen_.push_back({runner(setup).part(here.role, setup), pattern.busy_waits(setup), timed_here, samples[i]});
    }
    const bool there_and_back = has_several_sizes(series);
    for (std::int64_t round = 0; round < rounds; ++round) {
      for (const Chosen& chosen : chosen_) take(chosen);
      // Alternates the direction, since the after-effects of a message, such as an acknowledgement, hit the next one:
      // so each size follows both of its neighbours.
      if (there_and_back) std::reverse(chosen_.begin(), chosen_.end());
    }
    flush();
  }

 private:
  struct Chosen {
    Part take_sample;
    std::int64_t busy_waits;
    bool timed_here;
    std::reference_wrapper<SeriesSamples> samples;
  };
  // The runners of one operation. A list is posted like normal operations, by another pattern.
  struct Runners {
    std::unique_ptr<OperationRunner> normal;
    std::unique_ptr<OperationRunner> in_line;
  };

  [[nodiscard]] static bool has_several_sizes(std::span<const SeriesSetup> series) {
    return std::any_of(series.begin(), series.end(),
                       [&series](const SeriesSetup& one) { return one.message_bytes != series.front().message_bytes; });
  }

  void take(const Chosen& chosen) {
    settle();
    const Interval interval = chosen.take_sample();
    SeriesSamples& samples = chosen.samples;
    if (chosen.timed_here) samples.durations_ns.push_back(clock_.interval_ns(interval.begin, interval.end));
    if (interval.waited == 0) return;
    const auto waits = static_cast<double>(chosen.busy_waits);
    samples.waits_ns.push_back(patterns::waited_ns(clock_, interval.waited) / waits);
  }

  // Null for operations that the transport lacks; requests for them are refused.
  void make_runners(const RankSettings& self) {
    of(Operation::send).normal = through<views::PlainMessages<T>>(self);
    if constexpr (SendsInline<T>) of(Operation::send).in_line = through<views::InlineMessages<T>>(self);
    if constexpr (WritesRemotely<T>) make_writers<Operation::rdma_write, WritesInline<T>>(self);
    if constexpr (WritesWithImmediate<T>) {
      make_writers<Operation::rdma_write_immediate, WritesImmediateInline<T>>(self);
    }
    if constexpr (ReadsRemotely<T>) {
      of(Operation::rdma_read).normal = through<views::PassiveOperations<T, Operation::rdma_read>>(self);
    }
    if constexpr (AtomicOperations<T>) {
      of(Operation::atomic).normal = through<views::PassiveOperations<T, Operation::atomic>>(self);
    }
  }

  template <Operation operation, bool has_inline>
  void make_writers(const RankSettings& self) {
    of(operation).normal = through<views::RemoteWrites<T, operation, Posting::normal>>(self);
    if constexpr (has_inline) {
      of(operation).in_line = through<views::RemoteWrites<T, operation, Posting::in_line>>(self);
    }
  }

  template <class V>
  std::unique_ptr<OperationRunner> through(const RankSettings& self) {
    return std::make_unique<ViewRunner<V, C>>(transport_, clock_, self);
  }

  [[nodiscard]] Runners& of(Operation operation) { return runners_[static_cast<std::size_t>(operation)]; }
  [[nodiscard]] OperationRunner& runner(const SeriesSetup& setup) {
    const Runners& both = of(setup.operation);
    return *(setup.posting == Posting::in_line ? both.in_line : both.normal);
  }

  void settle() {
    if constexpr (offers<T, ability::Settles>) transport_.settle();
  }

  void flush() {
    if constexpr (offers<T, ability::Flushes>) transport_.flush();
  }

  void carry_payloads([[maybe_unused]] bool carried) {
    if constexpr (offers<T, ability::CarriesPayloads>) transport_.carry_payloads(carried);
  }

  T transport_;
  C clock_;
  Rank rank_;
  std::array<Runners, operation_names.size()> runners_;
  std::uint64_t payload_checks_ = 0;
  std::vector<Chosen> chosen_;
};

}  // namespace chiplog
