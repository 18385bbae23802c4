// What a transport or a clock offers beyond its concept, and the check that it offers what it says.
#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "chiplog/transport.hpp"

namespace chiplog {

// A transport or clock lists its abilities as
//   using Abilities = AbilityList<ability::Settles, ability::CarriesPayloads>;
// Each ability names the functions that come with it. A listed ability whose functions are missing, misspelt or of
// another type does not compile, and neither do functions whose ability is not listed (see TransportContract).
template <class... Listed>
struct AbilityList {
  template <class Ability>
  static constexpr bool has = (std::is_same_v<Ability, Listed> || ...);
  template <class T>
  static constexpr bool all_provided_by = (Listed::template provided_by<T> && ...);
};

// Does T say that it has this ability?
template <class T, class Ability>
inline constexpr bool offers = T::Abilities::template has<Ability>;

// Counts events on the way, such as lost datagrams, since the transport was made.
struct Counter {
  std::string_view name;
  std::uint64_t count = 0;
};

// The kind of machines that the ranks run on.
enum class Hosts {
  real,
  simulated,              // their state is known, and ranks cannot spin side by side
  simulated_with_states,  // their state changes
};

namespace ability {

// For a simulated network. `settle()` returns when no message is on its way any more; `settle_together(n)` returns on n
// ranks at the same time.
struct Settles {
  template <class T>
  static constexpr bool provided_by = requires(T transport) {
    { transport.settle() } -> std::same_as<void>;
    { transport.settle_together(1) } -> std::same_as<void>;
  };
  template <class T>
  static constexpr bool looks_provided_by =
      requires(T transport) { transport.settle(); } || requires(T transport) { transport.settle_together(1); };
};

// `carry_payloads(bool)` says whether contents matter; a simulated network need not copy them while samples are taken.
struct CarriesPayloads {
  template <class T>
  static constexpr bool provided_by = requires(T transport) {
    { transport.carry_payloads(true) } -> std::same_as<void>;
  };
  template <class T>
  static constexpr bool looks_provided_by = requires(T transport) { transport.carry_payloads(true); };
};

// When `flush()` returns, everything that was sent has arrived. It is called after the last sample of a group, after
// which no peer may expect this rank to send anything again.
struct Flushes {
  template <class T>
  static constexpr bool provided_by = requires(T transport) {
    { transport.flush() } -> std::same_as<void>;
  };
  template <class T>
  static constexpr bool looks_provided_by = requires(T transport) { transport.flush(); };
};

// `counters()` returns counts of events on the way, for the record.
struct Counts {
  template <class T>
  static constexpr bool provided_by = requires(T transport) {
    { transport.counters() } -> std::same_as<std::vector<Counter>>;
  };
  template <class T>
  static constexpr bool looks_provided_by = requires(T transport) { transport.counters(); };
};

// `mpi_json()` returns the header's "mpi" member.
struct DescribesMpi {
  template <class T>
  static constexpr bool provided_by = requires(T transport) {
    { transport.mpi_json() } -> std::same_as<std::string>;
  };
  template <class T>
  static constexpr bool looks_provided_by = requires(T transport) { transport.mpi_json(); };
};

// `hosts()` returns the kind of machines that the ranks run on. Without it they are real.
struct SimulatesHosts {
  template <class T>
  static constexpr bool provided_by = requires(T transport) {
    { transport.hosts() } -> std::same_as<Hosts>;
  };
  template <class T>
  static constexpr bool looks_provided_by = requires(T transport) { transport.hosts(); };
};

// Posted operations need not begin before they are waited for, as with MPI's.
struct BeginsOperationsAtWait {
  template <class T>
  static constexpr bool provided_by = true;
  template <class T>
  static constexpr bool looks_provided_by = false;
};

// `exchange(peer, out, bytes, in, capacity_bytes)` sends and receives at once (see ExchangesMessages). A transport
// without it must be able to post a send, receive, and wait for the send.
struct Exchanges {
  template <class T>
  static constexpr bool provided_by = ExchangesMessages<T>;
  template <class T>
  static constexpr bool looks_provided_by = ExchangesMessages<T>;
};

// For a clock that counts ticks: its calibrated frequency, the error of that, and the frequency measured over all the
// time since the calibration.
struct MeasuresFrequency {
  template <class C>
  static constexpr bool provided_by = requires(C clock) {
    { clock.frequency_hz() } -> std::same_as<double>;
    { clock.frequency_relative_error() } -> std::same_as<double>;
    { clock.measured_frequency_hz() } -> std::same_as<double>;
  };
  template <class C>
  static constexpr bool looks_provided_by =
      requires(C clock) { clock.frequency_hz(); } || requires(C clock) { clock.measured_frequency_hz(); };
};

// For a clock whose time does not pass by itself.
struct RunsInVirtualTime {
  template <class C>
  static constexpr bool provided_by = true;
  template <class C>
  static constexpr bool looks_provided_by = false;
};

// For a clock whose busy waits take exactly the time that was asked for: `exact_wait_ns(Ticks)`.
struct WaitsExactly {
  template <class C>
  static constexpr bool provided_by = requires(C clock) {
    { clock.exact_wait_ns(std::uint64_t{}) } -> std::same_as<double>;
  };
  template <class C>
  static constexpr bool looks_provided_by = requires(C clock) { clock.exact_wait_ns(std::uint64_t{}); };
};

}  // namespace ability

// All known abilities: a transport must not have a function of one of them without listing it.
using AllAbilities =
    AbilityList<ability::Settles, ability::CarriesPayloads, ability::Flushes, ability::Counts, ability::DescribesMpi,
                ability::SimulatesHosts, ability::BeginsOperationsAtWait, ability::Exchanges,
                ability::MeasuresFrequency, ability::RunsInVirtualTime, ability::WaitsExactly>;

// True if T has the functions of every ability that it lists.
template <class T>
inline constexpr bool provides_what_it_lists = T::Abilities::template all_provided_by<T>;

namespace detail {

template <class T, class List>
inline constexpr bool lists_all_it_seems_to_provide = false;
template <class T, class... Known>
inline constexpr bool lists_all_it_seems_to_provide<T, AbilityList<Known...>> =
    ((offers<T, Known> || !Known::template looks_provided_by<T>) && ...);

}  // namespace detail

// True if T lists the ability of every such function that it has.
template <class T>
inline constexpr bool lists_what_it_provides = detail::lists_all_it_seems_to_provide<T, AllAbilities>;

}  // namespace chiplog
