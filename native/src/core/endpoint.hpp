// One rank's transport, clock and patterns, as the session drives them: one indirect call a sample.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "chiplog/abilities.hpp"
#include "chiplog/clock.hpp"
#include "chiplog/transport.hpp"
#include "core/pattern.hpp"
#include "core/samples.hpp"

namespace chiplog {

// What the header says of a clock. Frequencies are 0 where the clock has none of its own.
struct ClockFacts {
  std::string name;
  double resolution_ns = 0.0;
  double overhead_ns = 0.0;
  double frequency_hz = 0.0;
  double frequency_relative_error = 0.0;
  bool is_virtual = false;
};

template <Clock C>
ClockFacts clock_facts(const C& clock) {
  ClockFacts facts{std::string(clock.name()), clock.resolution_ns(), clock.overhead_ns()};
  if constexpr (offers<C, ability::MeasuresFrequency>) {
    facts.frequency_hz = clock.frequency_hz();
    facts.frequency_relative_error = clock.frequency_relative_error();
  }
  facts.is_virtual = offers<C, ability::RunsInVirtualTime>;
  return facts;
}

class Endpoint {
 public:
  virtual ~Endpoint() = default;

  [[nodiscard]] virtual std::string transport_name() const = 0;
  // Everything that the endpoint can run.
  [[nodiscard]] virtual Patterns patterns() const = 0;
  [[nodiscard]] virtual Capabilities capabilities() = 0;
  [[nodiscard]] virtual std::size_t max_posted_sends() const = 0;
  [[nodiscard]] virtual std::string options_json() = 0;
  // The counters of this rank, empty where the transport counts nothing. Their names are the same on all ranks.
  [[nodiscard]] virtual std::vector<Counter> counters() = 0;
  [[nodiscard]] virtual Hosts hosts() = 0;
  // What the header's "mpi" holds; "null" unless the transport knows.
  [[nodiscard]] virtual std::string mpi_json() = 0;
  [[nodiscard]] virtual ClockFacts clock_facts() = 0;
  // The clock's frequency measured again, over the time since the first calibration; 0 where it has none.
  [[nodiscard]] virtual double measured_frequency_hz() = 0;
  // What a busy wait takes beyond the time between its looks at the clock, in nanoseconds; blocks for about 0.2 ms.
  [[nodiscard]] virtual double busy_wait_overhead_ns() = 0;

  // Reserves room for messages of this size, of this operation and posting. All ranks call it at the same time.
  virtual void reserve(const SeriesSetup& setup) = 0;
  // Sends a filled message each way, or whatever the operation moves, and compares; what was wrong, or nothing. All
  // ranks, for the same links in the same order: those that are at neither end only count the check.
  virtual std::optional<std::string> check_payload(const SeriesSetup& setup, const Link& link) = 0;
  // `rounds` samples of each series, one of each in turn, appended to those of the series. All ranks, at the same time.
  virtual void sample(std::span<const SeriesSetup> series, std::int64_t rounds, std::span<SeriesSamples> samples) = 0;
};

}  // namespace chiplog
