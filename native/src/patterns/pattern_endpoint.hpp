// Every pattern, instantiated for one transport and clock, behind the interface that the session drives.
#pragma once

#include <array>
#include <string>
#include <utility>

#include "chiplog/error.hpp"
#include "core/endpoint.hpp"
#include "core/payload.hpp"
#include "patterns/busy_wait_cost.hpp"
#include "patterns/flood.hpp"
#include "patterns/late_receiver.hpp"
#include "patterns/one_to_many.hpp"
#include "patterns/pairs.hpp"
#include "patterns/ping_pong.hpp"
#include "patterns/prtt.hpp"
#include "patterns/receive_overhead.hpp"
#include "patterns/send_overhead.hpp"

namespace chiplog {

// What a transport or a clock may offer beyond its concept; each is used where it is there:
//   transport.carry_payloads(bool)   whether contents matter (simulated messages need none while they are timed)
//   transport.settle()               makes the simulated network idle before a sample
//   transport.settle_together(n)     the same, for n ranks that then begin at the same time
//   transport.mpi_json()             the header's "mpi"
//   clock.frequency_hz(), clock.frequency_relative_error(), clock.measured_frequency_hz()
template <Transport T, Clock C>
class PatternEndpoint final : public Endpoint {
 public:
  PatternEndpoint(T& transport, C& clock, Rank rank)
      : bench_{transport, clock, transport.make_buffer(initial_bytes), transport.make_buffer(initial_bytes)},
        rank_(rank) {
    carry_payloads(false);
  }

  std::string transport_name() const override { return std::string(T::name); }
  Capabilities capabilities() override { return bench_.transport.capabilities(); }
  std::size_t max_posted_sends() const override { return T::max_posted_sends; }
  std::string options_json() override { return bench_.transport.options_json(); }

  std::string mpi_json() override {
    if constexpr (requires(T transport) { transport.mpi_json(); }) return bench_.transport.mpi_json();
    return "null";
  }

  ClockFacts clock_facts() override { return chiplog::clock_facts(bench_.clock); }

  double measured_frequency_hz() override {
    C& clock = bench_.clock;
    if constexpr (requires { clock.measured_frequency_hz(); }) return clock.measured_frequency_hz();
    return 0.0;
  }

  double busy_wait_cost_ns(double delay_ns) override { return patterns::busy_wait_cost_ns(bench_.clock, delay_ns); }

  void reserve(std::size_t message_bytes) override {
    if (message_bytes <= bench_.out.capacity() && message_bytes <= bench_.in.capacity()) return;
    bench_.out = bench_.transport.make_buffer(message_bytes);
    bench_.in = bench_.transport.make_buffer(message_bytes);
  }

  std::optional<std::string> check_payload(std::size_t message_bytes, const Link& link) override {
    carry_payloads(true);
    std::optional<std::string> mismatch;
    if (rank_ == link.client) {
      send_filled(link.server, message_bytes, salt(Role::client));
      mismatch = receive_and_compare(link.server, message_bytes, salt(Role::server));
    } else if (rank_ == link.server) {
      mismatch = receive_and_compare(link.client, message_bytes, salt(Role::client));
      send_filled(link.client, message_bytes, salt(Role::server));
    }
    carry_payloads(false);
    ++payload_checks_;
    return mismatch;
  }

  void sample(std::span<const SeriesSetup> series, std::int64_t rounds,
              std::vector<std::vector<double>>& samples_ns) override {
    chosen_.clear();
    for (std::size_t i = 0; i < series.size(); ++i) {
      const Role role = role_in(series[i]);
      if (role == Role::onlooker) continue;
      const bool timed_here = facts_of(series[i].pattern).timed_by == role;
      if (timed_here) samples_ns[i].reserve(samples_ns[i].size() + static_cast<std::size_t>(rounds));
      chosen_.push_back(
          {operation(series[i].pattern, role), as_seen_here(series[i]), timed_here ? &samples_ns[i] : nullptr});
    }
    for (std::int64_t round = 0; round < rounds; ++round) {
      for (const Chosen& chosen : chosen_) {
        settle();
        const Interval interval = chosen.operation(bench_, chosen.setup);
        if (chosen.samples_ns == nullptr) continue;
        chosen.samples_ns->push_back(bench_.clock.interval_ns(interval.begin, interval.end));
      }
    }
  }

 private:
  static constexpr std::size_t initial_bytes = 4096;

  using Operation = Interval (*)(Bench<T, C>&, const SeriesSetup&);
  struct Operations {
    Operation client;
    Operation server;
  };
  struct Chosen {
    Operation operation;
    SeriesSetup setup;
    std::vector<double>* samples_ns;
  };

  // Null where the transport posts no lists: requests for them are refused.
  static constexpr std::array<Operations, 2> list_postings = [] {
    if constexpr (PostsLists<T>) {
      return std::array<Operations, 2>{
          {{patterns::one_to_many_list_client<T, C>, patterns::one_to_many_server<T, C>},
           {patterns::send_overhead_list_client<T, C>, patterns::send_overhead_server<T, C>}}};
    }
    return std::array<Operations, 2>{};
  }();

  // In the order of enum Pattern.
  static constexpr std::array<Operations, pattern_count> operations{{
      {patterns::ping_pong_client<T, C>, patterns::ping_pong_server<T, C>},
      {patterns::prtt_client<T, C>, patterns::prtt_server<T, C>},
      {patterns::send_overhead_client<T, C>, patterns::send_overhead_server<T, C>},
      {patterns::receive_overhead_client<T, C>, patterns::receive_overhead_server<T, C>},
      {patterns::flood_client<T, C>, patterns::flood_server<T, C>},
      {patterns::late_receiver_client<T, C>, patterns::late_receiver_server<T, C>},
      {patterns::one_to_many_client<T, C>, patterns::one_to_many_server<T, C>},
      {patterns::pairs_client<T, C>, patterns::pairs_server<T, C>},
      {patterns::pairs_one_way_client<T, C>, patterns::pairs_one_way_server<T, C>},
      list_postings[0],
      list_postings[1],
  }};

  [[nodiscard]] static Operation operation(Pattern pattern, Role role) {
    const Operations& pair = operations[static_cast<std::size_t>(pattern)];
    return role == Role::client ? pair.client : pair.server;
  }

  [[nodiscard]] Role role_in(const SeriesSetup& setup) const {
    if (is_pairs(setup.pattern)) return setup.groups->role(rank_, setup.pairs);
    if (rank_ == patterns::client_rank) return Role::client;
    return rank_ <= setup.peers ? Role::server : Role::onlooker;
  }

  [[nodiscard]] SeriesSetup as_seen_here(SeriesSetup setup) const {
    setup.self = rank_;
    if (is_pairs(setup.pattern)) setup.partner = setup.groups->partner(rank_);
    return setup;
  }

  void settle() {
    if constexpr (requires(T transport) { transport.settle(); }) bench_.transport.settle();
  }

  void carry_payloads([[maybe_unused]] bool carried) {
    if constexpr (requires(T transport) { transport.carry_payloads(true); }) bench_.transport.carry_payloads(carried);
  }

  // Different for each check and direction, so that an old message can't pass for a new one.
  [[nodiscard]] std::uint64_t salt(Role sender) const { return 2 * payload_checks_ + (sender == Role::client ? 0 : 1); }

  void send_filled(Rank peer, std::size_t message_bytes, std::uint64_t salt) {
    fill_payload({bench_.out.data(), message_bytes}, salt);
    bench_.transport.send(peer, bench_.out, message_bytes);
  }

  std::optional<std::string> receive_and_compare(Rank peer, std::size_t message_bytes, std::uint64_t salt) {
    const std::size_t received = bench_.transport.recv(peer, bench_.in, message_bytes);
    if (received != message_bytes) {
      return std::to_string(received) + " bytes arrived, sent were " + std::to_string(message_bytes);
    }
    return find_mismatch({bench_.in.data(), message_bytes}, salt);
  }

  Bench<T, C> bench_;
  Rank rank_;
  std::uint64_t payload_checks_ = 0;
  std::vector<Chosen> chosen_;
};

}  // namespace chiplog
