// Requests: what a run measures, one JSON object per line.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "chiplog/transport.hpp"
#include "core/operation.hpp"
#include "core/pair_groups.hpp"
#include "core/pattern.hpp"

namespace chiplog {

// A delay is given, or is the median of PRTT(1,0,s) or PRTT(2,0,s) found in the record's warm-up.
enum class DelayKind { given, one_message_round_trip, two_message_round_trip };

struct SeriesRequest {
  const Pattern* pattern = nullptr;  // one of the list that the request was parsed with
  std::size_t message_bytes = 0;
  std::int64_t train = 1;
  std::int64_t peers = 1;
  std::int64_t pairs = 1;
  std::int64_t window = 1;                            // messages before an answer, of one-way pairs
  std::optional<std::array<std::string, 2>> between;  // the groups of `pairs`, the first two if not given
  DelayKind delay_kind = DelayKind::given;
  double delay_ns = 0.0;  // if given
  Operation operation = Operation::send;
  Posting posting = Posting::normal;
  std::array<std::int64_t, max_settings> settings{};  // in the order of the pattern's
  std::shared_ptr<const std::vector<Link>> links{};   // the pairs of ranks; null where the request lists none
};

struct StopRequest {
  double relative_half_width = 0.025;
  std::int64_t min_samples = 20;
  std::int64_t max_samples = 400;
  std::int64_t budget_ns = 50'000'000;
};

struct MeasureRequest {
  std::int64_t id = 0;
  std::int64_t visit = 0;
  std::string tag_json = "{}";
  bool check_payload = true;
  StopRequest stop;
  std::vector<SeriesRequest> series;
};

struct Request {
  bool quit = false;
  MeasureRequest measure;  // unless quit
};

inline constexpr std::size_t max_request_bytes = std::size_t{1} << 20;

// Throws UsageError that names the field and what it accepts; unknown fields are refused.
[[nodiscard]] Request parse_request(std::string_view line, Patterns patterns);

// The series in a run of so many ranks, before its pair groups, batch and delay are chosen.
[[nodiscard]] SeriesSetup setup_of(const SeriesRequest& series, int ranks);

// The limits of a transport that requests depend on.
struct RequestLimits {
  std::string transport;
  Capabilities capabilities;
  std::size_t max_posted_sends = 0;
  int ranks = 2;
  std::span<const PairGroups> pair_groups;
  std::chrono::nanoseconds time_limit{};
};

// Throws UsageError where the transport can't do what is asked or a sample alone would outlast the time limit.
void check_against(const RequestLimits& limits, const MeasureRequest& request);

}  // namespace chiplog
