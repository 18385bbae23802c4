#include <algorithm>

#include "chiplog/error.hpp"
#include "core/field_path.hpp"
#include "core/request.hpp"

namespace chiplog {
namespace {

void check_pairs(const RequestLimits& limits, const SeriesRequest& series, const std::string& name) {
  const PairGroups* groups = choose_pair_groups(limits.pair_groups, series.between);
  if (groups == nullptr) {
    std::string names;
    for (const PairGroups& one : limits.pair_groups) {
      names += (names.empty() ? "" : "; ") + one.between[0] + ", " + one.between[1];
    }
    throw UsageError(field_path(name, "between") + " accepts " + names + ", not " + (*series.between)[0] + ", " +
                     (*series.between)[1]);
  }
  if (series.pairs > static_cast<std::int64_t>(groups->clients.size())) {
    throw UsageError(field_path(name, "pairs") + " accepts at most " + std::to_string(groups->clients.size()) +
                     " between " + groups->between[0] + " and " + groups->between[1] + ", not " +
                     std::to_string(series.pairs));
  }
}

void check_size(const RequestLimits& limits, const SeriesRequest& series, const std::string& name) {
  const std::size_t most = limits.capabilities.max_message_bytes;
  if (series.message_bytes <= most) return;
  throw UsageError(field_path(name, "message_bytes") + " accepts at most " + std::to_string(most) + " on " +
                   limits.transport + ", not " + std::to_string(series.message_bytes));
}

void check_operation(const RequestLimits& limits, const SeriesRequest& series, const std::string& name) {
  if (const auto reason = why_not(limits.capabilities, series.operation)) {
    throw UsageError(field_path(name, "operation") + " does not accept " + std::string(name_of(series.operation)) +
                     " on " + limits.transport + ", " + std::string(*reason));
  }
  const std::int64_t unanswered = std::max(series.train, series.window);
  if (is_write(series.operation) && unanswered > most_unanswered_writes) {
    throw UsageError(field_path(name, "train") + " of " + std::string(name_of(series.operation)) + " accepts at most " +
                     std::to_string(most_unanswered_writes) + ", not " + std::to_string(unanswered));
  }
}

void check_posting(const RequestLimits& limits, const SeriesRequest& series, const std::string& name) {
  const Capabilities& can = limits.capabilities;
  const std::string field = field_path(name, "posting");
  if (series.posting == Posting::list && !can.list_posting) {
    throw UsageError(field + " accepts normal on " + limits.transport + ", which posts no lists");
  }
  if (series.posting == Posting::in_line && !can.inline_send) {
    throw UsageError(field + " accepts normal on " + limits.transport + ", which posts nothing inline");
  }
  if (series.posting == Posting::in_line && series.message_bytes > can.max_inline_bytes) {
    throw UsageError(field + " inline takes up to " + std::to_string(can.max_inline_bytes) + " bytes on " +
                     limits.transport + ", not " + std::to_string(series.message_bytes));
  }
}

void check_posted(const RequestLimits& limits, const SeriesRequest& series, const std::string& name) {
  const std::int64_t posted = series.pattern->posted_at_once(setup_of(series, limits.ranks));
  if (static_cast<std::size_t>(posted) <= limits.max_posted_sends) return;
  throw UsageError(field_path(name, "train") + " of " + std::string(series.pattern->name) + " accepts at most " +
                   std::to_string(limits.max_posted_sends) + " on " + limits.transport + ", not " +
                   std::to_string(posted));
}

void check_series(const RequestLimits& limits, const SeriesRequest& series, const std::string& name) {
  check_size(limits, series, name);
  if (series.peers >= limits.ranks) {
    throw UsageError(field_path(name, "peers") + " accepts at most " + std::to_string(limits.ranks - 1) + " with " +
                     std::to_string(limits.ranks) + " ranks, not " + std::to_string(series.peers));
  }
  if (series.pattern->takes_pair_groups) check_pairs(limits, series, name);
  if (const auto refusal = series.pattern->refuse(setup_of(series, limits.ranks))) {
    throw UsageError(field_path(name, refusal->field) + " " + refusal->sentence);
  }
  check_posted(limits, series, name);
  check_operation(limits, series, name);
  check_posting(limits, series, name);
  if (series.pattern->needs_synchronising_transport && !limits.capabilities.synchronises) {
    throw UsageError(field_path(name, "pattern") + " " + std::string(series.pattern->name) +
                     ": sends never wait for receives on " + limits.transport);
  }
  if (series.pattern->needs_posted_receives && !limits.capabilities.posts_receives) {
    throw UsageError(field_path(name, "pattern") + " " + std::string(series.pattern->name) + ": " + limits.transport +
                     " has no receive that is posted and waited for later");
  }
  const double longest_ns = 0.5 * static_cast<double>(limits.time_limit.count());
  if (static_cast<double>(series.train + 1) * series.delay_ns > longest_ns) {
    throw UsageError(field_path(name, "delay_ns") + " times train must stay below half of the time limit, " +
                     std::to_string(static_cast<std::int64_t>(longest_ns)) + " ns");
  }
}

}  // namespace

void check_against(const RequestLimits& limits, const MeasureRequest& request) {
  for (std::size_t i = 0; i < request.series.size(); ++i) {
    check_series(limits, request.series[i], "series[" + std::to_string(i) + "]");
  }
}

}  // namespace chiplog
