#include <string>

#include "chiplog/error.hpp"
#include "transports/sim/assignments.hpp"
#include "transports/sim/parse.hpp"

namespace chiplog::sim {
namespace {

// Nothing arrives before it was posted, and no send ends before the one before it.
void refuse_impossible(const Options& options, const Parameters& parameters) {
  const auto posting_ns = [&](double sends) {
    return sends * parameters.first.o_s_ns + parameters.start_up.total_ns(sends);
  };
  if (posting_ns(2.0) < posting_ns(1.0)) {
    throw UsageError(options.named("lop-overhead") + " accepts curves by which two sends take no less than one");
  }
  for (int peers = 1; peers < parameters.ranks; ++peers) {
    if (parameters.lop->one_way_ns(peers) < posting_ns(peers)) {
      throw UsageError(options.named("lop") + " accepts curves that leave time to post the messages; at p = " +
                       std::to_string(peers) + " this one doesn't");
    }
  }
}

}  // namespace

void parse_lop(Options& options, Parameters& parameters) {
  const std::string curve_text = options.text("lop", "");
  const std::string overhead_text = options.text("lop-overhead", "");
  if (!options.has("lop")) return;
  const auto duration_ns = [&](Assignments& assignments, std::string_view key, std::string_view option) {
    return checked_duration(assignments.duration_ns(key), options.named(option));
  };
  Assignments curve(curve_text, options.named("lop"), "all of C=5us:l1=17us:l2=0:A=10us:tau=16");
  parameters.lop = {.C_ns = duration_ns(curve, "C", "lop"),
                    .l1_ns = duration_ns(curve, "l1", "lop"),
                    .l2 = curve.number_above(-1.0, "l2"),
                    .A_ns = duration_ns(curve, "A", "lop"),
                    .tau = curve.number_above(0.0, "tau")};
  curve.refuse_others();
  Assignments overhead(overhead_text, options.named("lop-overhead"), "all of l1=0.5us:l2=0.8us:l3=-0.1");
  parameters.first = {
      .L_ns = 0.0, .o_s_ns = duration_ns(overhead, "l1", "lop-overhead"), .o_r_ns = 0.0, .g_ns = 0.0, .G_ns = 0.0};
  parameters.start_up = {.ns = duration_ns(overhead, "l2", "lop-overhead"), .shift = overhead.number_above(-1.0, "l3")};
  overhead.refuse_others();
  refuse_impossible(options, parameters);
}

}  // namespace chiplog::sim
