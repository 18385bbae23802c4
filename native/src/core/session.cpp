#include "core/session.hpp"

#include <algorithm>
#include <chrono>
#include <memory>

#include "chiplog/error.hpp"
#include "core/experiment.hpp"
#include "core/header.hpp"
#include "core/interruption.hpp"
#include "core/machine.hpp"
#include "core/placement.hpp"
#include "core/record_sink.hpp"
#include "core/request_source.hpp"

namespace chiplog {
namespace {

using SteadyClock = std::chrono::steady_clock;

// What rank 0 tells the others to do next: one letter, and for `measure` the request behind it.
constexpr char do_measure = 'm';
constexpr char do_measure_without_placement = 'n';
constexpr char do_wait = 'w';
constexpr char do_quit = 'q';
// Ranks that take turns on one CPU never meet at the flags; rank 0 stops trying.
constexpr int max_missed_placements = 3;

RankFacts own_facts() {
  RankFacts facts{host_name(), boot_id(), allowed_cpus(), std::nullopt};
  if (facts.cpus.size() == 1) facts.place = read_topology(facts.cpus).front();
  return facts;
}

class Session {
 public:
  Session(Endpoint& endpoint, RunContext& context)
      : endpoint_(endpoint), context_(context), bootstrap_(*context.bootstrap) {}

  int run() {
    if (bootstrap_.size() < 2) throw UsageError("a run needs at least 2 ranks; there is 1");
    meet();
    return bootstrap_.rank() == 0 ? lead() : follow();
  }

 private:
  // Every rank learns of all, so that all take the same decisions.
  void meet() {
    for (const std::string& facts : bootstrap_.all_gather(rank_facts_json(own_facts()))) {
      world_.ranks.push_back(parse_rank_facts(facts));
    }
    std::vector<std::optional<Cpu>> places;
    for (const RankFacts& rank : world_.ranks) places.push_back(rank.place);
    world_.nodes = find_nodes(bootstrap_);
    world_.pair_groups = find_pair_groups(world_.nodes, places);
    world_.binding = context_.binding;
    if (!context_.watch_machine) return;
    placement_ = context_.placement;
    if (placement_ != nullptr) return;
    const RankFacts& first = world_.ranks[0];
    const RankFacts& second = world_.ranks[1];
    const bool share_host = first.host == second.host && first.boot == second.boot;
    own_placement_ = PlacementPage::agree(bootstrap_, share_host);
    placement_ = own_placement_.get();
  }

  int follow() {
    while (true) {
      const std::string command = bootstrap_.broadcast({});
      if (command.empty() || command.front() == do_quit) return 0;
      if (command.front() == do_wait) continue;
      const Request request = parse_request(std::string_view(command).substr(1));
      try {
        measure(request.measure, command.front() == do_measure ? placement_ : nullptr);
      } catch (const UsageError&) {
        // Rank 0 met the same and answers for all.
      }
    }
  }

  int lead() {
    context_.records->write(header_json(context_.settings, endpoint_, world_));
    FooterFacts footer;
    try {
      take_requests();
      bootstrap_.broadcast(std::string(1, do_quit));
    } catch (const Error& error) {
      footer.complete = false;
      footer.reason = error.what();
      write_ending(footer, static_cast<int>(error.exit_code()));
      throw;
    }
    footer.complete = !interrupted();
    if (!footer.complete) footer.reason = "interrupted";
    write_ending(footer, 0);
    return static_cast<int>(footer.complete ? ExitCode::done : ExitCode::interrupted);
  }

  void take_requests() {
    const auto patience =
        std::min(std::chrono::milliseconds(250),
                 std::chrono::duration_cast<std::chrono::milliseconds>(context_.settings.time_limit) / 4);
    std::string line;
    while (!interrupted()) {
      try {
        const RequestSource::Outcome outcome = context_.requests->next(line, patience);
        if (outcome == RequestSource::Outcome::end) return;
        if (outcome == RequestSource::Outcome::idle) {
          bootstrap_.broadcast(std::string(1, do_wait));
          continue;
        }
        const Request request = parse_request(line);
        if (request.quit) return;
        check_against(limits(), request.measure);
        bootstrap_.broadcast((placement_ != nullptr ? do_measure : do_measure_without_placement) + line);
        write_record(request.measure);
      } catch (const UsageError& error) {
        context_.records->write(error_json(static_cast<int>(error.exit_code()), error.what()));
      }
    }
  }

  void write_record(const MeasureRequest& request) {
    const std::int64_t started_ns = elapsed_ns();
    Record record = measure(request, placement_);
    if (record.placement_ns) missed_placements_ = 0;
    if (!record.placement_ns && ++missed_placements_ == max_missed_placements) placement_ = nullptr;
    record.started_ns = started_ns;
    record.placement = world_.binding.placement;
    record.launch = context_.settings.launch;
    context_.records->write(record_json(request, record));
    ++records_;
  }

  Record measure(const MeasureRequest& request, PlacementPage* placement) {
    const Witnesses witnesses{placement, context_.watch_machine || context_.takes_reference};
    return Experiment(endpoint_, bootstrap_, witnesses, context_.settings.time_limit, world_.pair_groups, request)
        .run();
  }

  // `exit_code` 0 for an end without error. What has gone wrong already matters more than that it can't be written.
  void write_ending(FooterFacts& footer, int exit_code) {
    footer.records = records_;
    footer.elapsed_ns = elapsed_ns();
    footer.frequency_hz = endpoint_.clock_facts().frequency_hz;
    footer.measured_frequency_hz = endpoint_.measured_frequency_hz();
    try {
      if (exit_code != 0) context_.records->write(error_json(exit_code, footer.reason));
      context_.records->write(footer_json(footer));
    } catch (const Error&) {
      if (exit_code == 0) throw;
    }
  }

  RequestLimits limits() {
    return {endpoint_.transport_name(), endpoint_.capabilities(), endpoint_.max_posted_sends(),
            bootstrap_.size(),          world_.pair_groups,       context_.settings.time_limit};
  }

  [[nodiscard]] std::int64_t elapsed_ns() const {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(SteadyClock::now() - start_).count();
  }

  Endpoint& endpoint_;
  RunContext& context_;
  Bootstrap& bootstrap_;
  SteadyClock::time_point start_ = SteadyClock::now();
  World world_;
  PlacementPage* placement_ = nullptr;
  std::unique_ptr<PlacementPage> own_placement_;
  int missed_placements_ = 0;
  std::int64_t records_ = 0;
};

}  // namespace

int run_session(Endpoint& endpoint, RunContext& context) { return Session(endpoint, context).run(); }

}  // namespace chiplog
