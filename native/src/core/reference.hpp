// A fixed exchange of 1-byte messages that is measured with every record.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "core/endpoint.hpp"

namespace chiplog {

// Medians over a record, in nanoseconds.
struct ReferenceTimes {
  double half_round_trip_ns = 0.0;
  double gap_ns = 0.0;       // of each further message of a train; 0 where it is hidden in the noise
  double overhead_ns = 0.0;  // of posting a send, a reading of the clock included
};

// The witness of the state that cores, caches and transport are in while a record is taken: what differs in it, differs
// for another reason than the message size. Its samples are apart from those of the record.
class Reference {
 public:
  enum Series : std::size_t { round_trip, train, posting, series };

  // `patterns` holds the patterns that it consists of.
  explicit Reference(Patterns patterns);

  // After a chunk of `rounds` rounds of the record's own samples; its own rounds. All ranks, at the same time.
  std::int64_t sample(Endpoint& endpoint, std::int64_t rounds);
  [[nodiscard]] const std::array<SeriesSetup, series>& setups() const { return setups_; }
  // On rank 0; nothing before the first samples.
  [[nodiscard]] std::optional<ReferenceTimes> times() const;

 private:
  std::array<SeriesSetup, series> setups_;
  std::array<SeriesSamples, series> samples_;
};

}  // namespace chiplog
