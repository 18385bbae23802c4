#include "core/session.hpp"

#include <algorithm>
#include <chrono>
#include <memory>
#include <utility>

#include "chiplog/error.hpp"
#include "core/experiment.hpp"
#include "core/header.hpp"
#include "core/interruption.hpp"
#include "core/machine.hpp"

namespace chiplog {
namespace {

using SteadyClock = std::chrono::steady_clock;

// Rank 0's command to the others: one letter, followed by the request for `measure`.
constexpr char do_measure = 'm';
constexpr char do_measure_without_placement = 'n';
constexpr char do_wait = 'w';
constexpr char do_quit = 'q';
// Ranks that share one CPU never answer each other's flags in time, so rank 0 stops trying.
constexpr int max_missed_placements = 3;

RankFacts own_facts() {
  RankFacts facts{host_name(), boot_id(), allowed_cpus(), std::nullopt};
  if (facts.cpus.size() == 1) facts.place = read_topology(facts.cpus).front();
  return facts;
}

// The part of a session that is the same on all ranks.
class Session {
 public:
  Session(Endpoint& endpoint, Bootstrap& bootstrap, const RunSettings& settings, RankStart start)
      : endpoint_(endpoint), bootstrap_(bootstrap), settings_(settings), placement_(std::move(start.placement)) {
    if (bootstrap_.size() < 2) throw UsageError("a run needs at least 2 ranks; there is 1");
    meet(start.binding);
  }

 protected:
  Record measure(const MeasureRequest& request, bool with_placement) {
    const Witnesses witnesses{.placement = with_placement ? placement_.get() : nullptr,
                              .reference = endpoint_.hosts() != Hosts::simulated};
    return Experiment(endpoint_, bootstrap_, witnesses, settings_.time_limit, world_.pair_groups, request).run();
  }

  Endpoint& endpoint_;
  Bootstrap& bootstrap_;
  const RunSettings& settings_;
  SteadyClock::time_point start_ = SteadyClock::now();
  std::unique_ptr<PlacementPage> placement_;
  World world_;

 private:
  // Every rank gets all of it, so that all take the same decisions.
  void meet(const Binding& binding) {
    for (const std::string& facts : bootstrap_.all_gather(rank_facts_json(own_facts()))) {
      world_.ranks.push_back(parse_rank_facts(facts));
    }
    std::vector<std::optional<Cpu>> places;
    for (const RankFacts& rank : world_.ranks) places.push_back(rank.place);
    world_.nodes = find_nodes(bootstrap_);
    world_.pair_groups = find_pair_groups(world_.nodes, places);
    world_.binding = binding;
    if (endpoint_.hosts() != Hosts::real) placement_.reset();
    if (placement_ != nullptr || endpoint_.hosts() != Hosts::real) return;
    const RankFacts& first = world_.ranks[0];
    const RankFacts& second = world_.ranks[1];
    const bool share_host = first.host == second.host && first.boot == second.boot;
    placement_ = PlacementPage::agree(bootstrap_, share_host);
  }
};

class Follower : public Session {
 public:
  using Session::Session;

  void run() {
    while (true) {
      const std::string command = bootstrap_.broadcast({});
      if (command.empty() || command.front() == do_quit) return;
      if (command.front() == do_wait) continue;
      const Request request = parse_request(std::string_view(command).substr(1), endpoint_.patterns());
      try {
        measure(request.measure, command.front() == do_measure);
      } catch (const UsageError&) {
        // Rank 0 has the same error and reports it for all.
      }
    }
  }
};

class Leader : public Session {
 public:
  Leader(Endpoint& endpoint, Bootstrap& bootstrap, const RunSettings& settings, RankStart start,
         RequestSource& requests, RecordSink& records)
      : Session(endpoint, bootstrap, settings, std::move(start)), requests_(requests), records_(records) {}

  int run() {
    records_.write(header_json(settings_, endpoint_, world_));
    FooterFacts footer;
    try {
      take_requests();
      bootstrap_.broadcast(std::string(1, do_quit));
    } catch (const Error& error) {
      const std::optional<Error> first = bootstrap_.first_failure(error);
      footer.complete = false;
      footer.reason = first.value_or(error).what();
      write_ending(footer, first ? &*first : &error);
      if (first) throw Error(*first);
      throw;
    }
    footer.complete = !interrupted();
    if (!footer.complete) footer.reason = "interrupted";
    write_ending(footer, nullptr);
    return static_cast<int>(footer.complete ? ExitCode::done : ExitCode::interrupted);
  }

 private:
  void take_requests() {
    const auto patience = std::min(std::chrono::milliseconds(250),
                                   std::chrono::duration_cast<std::chrono::milliseconds>(settings_.time_limit) / 4);
    std::string line;
    while (!interrupted()) {
      try {
        const RequestSource::Outcome outcome = requests_.next(line, patience);
        if (outcome == RequestSource::Outcome::end) return;
        if (outcome == RequestSource::Outcome::idle) {
          bootstrap_.broadcast(std::string(1, do_wait));
          continue;
        }
        const Request request = parse_request(line, endpoint_.patterns());
        if (request.quit) return;
        check_against(limits(), request.measure);
        bootstrap_.broadcast((takes_placement() ? do_measure : do_measure_without_placement) + line);
        write_record(request.measure);
      } catch (const UsageError& error) {
        records_.write(error_json(error));
      }
    }
  }

  void write_record(const MeasureRequest& request) {
    const std::int64_t started_ns = elapsed_ns();
    Record record = measure(request, takes_placement());
    if (takes_placement()) missed_placements_ = record.placement_ns ? 0 : missed_placements_ + 1;
    record.started_ns = started_ns;
    record.placement = world_.binding.placement;
    record.launch = settings_.launch;
    records_.write(record_json(request, record));
    ++record_count_;
  }

  // `error` is null for an end without one. It matters more than a footer that can't be written.
  void write_ending(FooterFacts& footer, const Error* error) {
    footer.records = record_count_;
    footer.elapsed_ns = elapsed_ns();
    footer.frequency_hz = endpoint_.clock_facts().frequency_hz;
    footer.measured_frequency_hz = endpoint_.measured_frequency_hz();
    try {
      if (error != nullptr) records_.write(error_json(*error));
      records_.write(footer_json(footer));
    } catch (const Error&) {
      if (error == nullptr) throw;
    }
  }

  // Stops once ranks 0 and 1 have failed to meet too often.
  [[nodiscard]] bool takes_placement() const {
    return placement_ != nullptr && missed_placements_ < max_missed_placements;
  }

  RequestLimits limits() {
    return {endpoint_.transport_name(), endpoint_.capabilities(), endpoint_.max_posted_sends(),
            bootstrap_.size(),          world_.pair_groups,       settings_.time_limit};
  }

  [[nodiscard]] std::int64_t elapsed_ns() const {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(SteadyClock::now() - start_).count();
  }

  RequestSource& requests_;
  RecordSink& records_;
  int missed_placements_ = 0;
  std::int64_t record_count_ = 0;
};

}  // namespace

int lead_session(Endpoint& endpoint, Bootstrap& bootstrap, const RunSettings& settings, RankStart start,
                 RequestSource& requests, RecordSink& records) {
  return Leader(endpoint, bootstrap, settings, std::move(start), requests, records).run();
}

void follow_session(Endpoint& endpoint, Bootstrap& bootstrap, const RunSettings& settings, RankStart start) {
  Follower(endpoint, bootstrap, settings, std::move(start)).run();
}

}  // namespace chiplog
