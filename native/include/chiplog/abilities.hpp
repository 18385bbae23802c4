// What a transport or a clock offers beyond its concept, and the check that it offers what it says.
#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

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

// A count of what happened on the way, such as lost datagrams, since the transport was made.
struct Counter {
  std::string_view name;
  std::uint64_t count = 0;
};

// On which machines the ranks run, as far as the state of those machines matters to a measurement.
enum class Hosts {
  real,
  simulated,              // their state is known, and ranks cannot spin side by side
  simulated_with_states,  // their state changes
};

namespace ability {

// Of a simulated network. `settle()` returns when nothing is on its way any more; `settle_together(n)` returns on n
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

// What was sent has arrived when `flush()` returns. It is called after the last of some samples, where no peer may
// expect this rank to send anything again.
struct Flushes {
  template <class T>
  static constexpr bool provided_by = requires(T transport) {
    { transport.flush() } -> std::same_as<void>;
  };
  template <class T>
  static constexpr bool looks_provided_by = requires(T transport) { transport.flush(); };
};

// `counters()` counts what happened on the way, for the record.
struct Counts {
  template <class T>
  static constexpr bool provided_by = requires(T transport) {
    { transport.counters() } -> std::same_as<std::vector<Counter>>;
  };
  template <class T>
  static constexpr bool looks_provided_by = requires(T transport) { transport.counters(); };
};

// `mpi_json()` is the header's "mpi".
struct DescribesMpi {
  template <class T>
  static constexpr bool provided_by = requires(T transport) {
    { transport.mpi_json() } -> std::same_as<std::string>;
  };
  template <class T>
  static constexpr bool looks_provided_by = requires(T transport) { transport.mpi_json(); };
};

// `hosts()` says on which machines the ranks run. Without it they are real.
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

// Of a clock that counts: the frequency of its calibration, how wrong that may be, and the frequency over all the time
// since then.
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

// Of a clock whose time does not pass by itself.
struct RunsInVirtualTime {
  template <class C>
  static constexpr bool provided_by = true;
  template <class C>
  static constexpr bool looks_provided_by = false;
};

// Of a clock whose busy waits take exactly what was asked for: `exact_wait_ns(Ticks)`.
struct WaitsExactly {
  template <class C>
  static constexpr bool provided_by = requires(C clock) {
    { clock.exact_wait_ns(std::uint64_t{}) } -> std::same_as<double>;
  };
  template <class C>
  static constexpr bool looks_provided_by = requires(C clock) { clock.exact_wait_ns(std::uint64_t{}); };
};

}  // namespace ability

// All there are: a function that belongs to one of them must not be there by chance.
using AllAbilities = AbilityList<ability::Settles, ability::CarriesPayloads, ability::Flushes, ability::Counts,
                                 ability::DescribesMpi, ability::SimulatesHosts, ability::BeginsOperationsAtWait,
                                 ability::MeasuresFrequency, ability::RunsInVirtualTime, ability::WaitsExactly>;

// Every listed ability has its functions.
template <class T>
inline constexpr bool provides_what_it_lists = T::Abilities::template all_provided_by<T>;

namespace detail {

template <class T, class List>
inline constexpr bool lists_all_it_seems_to_provide = false;
template <class T, class... Known>
inline constexpr bool lists_all_it_seems_to_provide<T, AbilityList<Known...>> =
    ((offers<T, Known> || !Known::template looks_provided_by<T>) && ...);

}  // namespace detail

// Every function of an ability belongs to a listed one.
template <class T>
inline constexpr bool lists_what_it_provides = detail::lists_all_it_seems_to_provide<T, AllAbilities>;

}  // namespace chiplog
