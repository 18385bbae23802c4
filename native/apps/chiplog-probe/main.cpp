// chiplog-probe: measures communication between ranks, requests in and records out.

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <memory>
#include <new>
#include <string>
#include <utility>
#include <variant>

#include "bootstrap/bootstraps.hpp"
#include "chiplog/error.hpp"
#include "command_line.hpp"
#include "core/header.hpp"
#include "core/interruption.hpp"
#include "core/machine_clock.hpp"
#include "core/pinning.hpp"
#include "core/placement.hpp"
#include "core/record_sink.hpp"
#include "core/request_source.hpp"
#include "core/session.hpp"
#include "files.hpp"
#include "transports/registry.hpp"

#ifdef CHIPLOG_WITH_MPI
#include "bootstrap/mpi.hpp"
#endif
#ifndef CHIPLOG_VERSION
#define CHIPLOG_VERSION "unknown"
#endif

namespace chiplog {
namespace {

void print(const std::string& text) {
  std::fwrite(text.data(), 1, text.size(), stdout);
  std::fflush(stdout);
}

void list_transports() {
  std::string built;
  for (const TransportEntry* entry : transports()) {
    built += (built.empty() ? "" : ",") + transport_json(entry->name, entry->summary, entry->options,
                                                         entry->capabilities(), availability_of(*entry));
  }
  std::string absent;
  for (const NotBuilt& one : transports_not_built()) {
    absent += (absent.empty() ? "" : ",") + not_built_json(one.name, one.needs);
  }
  print("{\"transports\":[" + built + "],\"not_built\":[" + absent + "]}\n");
}

void show_clock() {
  std::string why_not;
  const auto counter = CounterClock::make(why_not);
  print(machine_json(counter ? clock_facts(*counter) : clock_facts(RawClock()), why_not, 1) + "\n");
}

constexpr bool has_mpi =
#ifdef CHIPLOG_WITH_MPI
    true;
#else
    false;
#endif

// Whether this is one of several processes that a launcher started. The shell of a Slurm allocation looks like its
// rank 0.
bool is_one_of_many() {
  const auto identity = launcher_identity();
  return identity && identity->size > 1 && (identity->launcher != "Slurm" || identity->rank > 0);
}

BootstrapKind choose_bootstrap(BootstrapKind asked, const OneProcessARank& transport) {
  if (asked != BootstrapKind::automatic) return asked;
  if (transport.needs_mpi) return BootstrapKind::mpi;
  if (std::getenv("CHIPLOG_RENDEZVOUS") != nullptr) return BootstrapKind::rendezvous;
  if (!is_one_of_many()) return BootstrapKind::fork;
  return has_mpi ? BootstrapKind::mpi : BootstrapKind::rendezvous;
}

// How the ranks of this run met. What goes first is declared last.
struct Meeting {
#ifdef CHIPLOG_WITH_MPI
  std::unique_ptr<MpiLibrary> mpi;
#endif
  std::unique_ptr<PlacementPage> placement;
  std::unique_ptr<Bootstrap> bootstrap;
};

// Where rank 0 reads requests and writes records.
struct RecordFiles {
  explicit RecordFiles(const CommandLine& line)
      : requests_file(Descriptor::open_requests(line.requests_path)),
        records_file(Descriptor::open_records(line.records_path)) {}

  Descriptor requests_file;
  Descriptor records_file;
  RequestSource requests{requests_file.number()};
  RecordSink records{records_file.number()};
};

class Probe {
 public:
  Probe(int argc, char** argv) : argc_(argc), argv_(argv) {}

  int run() {
    try {
      CommandLine line = parse_command_line(argc_, argv_);
      if (line.settings.version.empty()) line.settings.version = CHIPLOG_VERSION;
      return act(line);
    } catch (const Error& error) {
      return fail(static_cast<int>(error.exit_code()), error.what(), is_said_elsewhere(error));
    } catch (const std::bad_alloc&) {
      return fail(static_cast<int>(ExitCode::run_failed), "there is not enough memory", false);
    } catch (const std::exception& error) {
      return fail(static_cast<int>(ExitCode::run_failed), error.what(), false);
    }
  }

 private:
  int act(const CommandLine& line) {
    switch (line.action) {
      case Action::show_help:
        print(std::string(help_text()));
        return 0;
      case Action::show_version:
        print("chiplog-probe " CHIPLOG_VERSION "\n");
        return 0;
      case Action::list_transports:
        list_transports();
        return 0;
      case Action::show_clock:
        show_clock();
        return 0;
      case Action::run:
        break;
    }
    return measure(line);
  }

  int measure(const CommandLine& line) {
    Options options = parse_target(line.settings.target);
    const TransportEntry& transport = find_transport(options.transport());
    std::signal(SIGPIPE, SIG_IGN);
    if (const auto* together = std::get_if<OneProcessForAll>(&transport.ranks)) {
      return measure_here(line, *together, options);
    }
    return measure_as_one_rank(line, std::get<OneProcessARank>(transport.ranks), options);
  }

  static int measure_here(const CommandLine& line, const OneProcessForAll& transport, Options& options) {
    watch_for_interruption();
    RecordFiles files(line);
    int exit_code = 0;
    transport.run_ranks(options, line.settings, [&](Bootstrap& bootstrap, Endpoint& endpoint) {
      if (bootstrap.rank() == 0) {
        exit_code = lead_session(endpoint, bootstrap, line.settings, {}, files.requests, files.records);
      } else {
        follow_session(endpoint, bootstrap, line.settings, {});
      }
    });
    return exit_code;
  }

  int measure_as_one_rank(const CommandLine& line, const OneProcessARank& transport, Options& options) {
    meet(line, transport);
    Bootstrap& bootstrap = *meeting_.bootstrap;
    rank_ = bootstrap.rank();
    const PinRequest pin = parse_pin(line.settings.pin, bootstrap.size());
    RankStart start{bind_ranks(pin, bootstrap, find_nodes(bootstrap)), std::move(meeting_.placement)};
    if (rank_ == 0) {
      watch_for_interruption();
      RecordFiles files(line);
      const auto endpoint = transport.make_endpoint(bootstrap, options, line.settings);
      return lead_session(*endpoint, bootstrap, line.settings, std::move(start), files.requests, files.records);
    }
    ignore_interruption();
    const auto endpoint = transport.make_endpoint(bootstrap, options, line.settings);
    follow_session(*endpoint, bootstrap, line.settings, std::move(start));
    return 0;
  }

  void meet(const CommandLine& line, const OneProcessARank& transport) {
    const RunSettings& settings = line.settings;
    switch (choose_bootstrap(line.bootstrap, transport)) {
      case BootstrapKind::mpi:
        meet_over_mpi(settings);
        return;
      case BootstrapKind::rendezvous:
        meeting_.bootstrap = make_bootstrap_from_environment(settings.time_limit);
        if (!meeting_.bootstrap) {
          throw UsageError(
              "the ranks were launched, so they need CHIPLOG_RENDEZVOUS=host:port and CHIPLOG_SECRET in the "
              "environment");
        }
        return;
      default:
        (void)parse_pin(settings.pin, settings.ranks);  // before there are ranks that would all say the same
        meeting_.placement = PlacementPage::make_anonymous();
        meeting_.bootstrap = make_fork_bootstrap(settings.ranks, settings.time_limit);
    }
  }

  void meet_over_mpi([[maybe_unused]] const RunSettings& settings) {
#ifdef CHIPLOG_WITH_MPI
#ifndef CHIPLOG_SMPI  // there the ranks share one process and its descriptors
    Descriptor::keep_standard_output_for_records();
#endif
    meeting_.mpi = std::make_unique<MpiLibrary>(argc_, argv_);
    meeting_.bootstrap = std::make_unique<MpiBootstrap>(settings.time_limit);
#else
    throw UsageError("this probe was built without MPI; build one with: chiplog probe build --mpi mpicxx");
#endif
  }

  // Whether rank 0 says it.
  [[nodiscard]] bool is_said_elsewhere(const Error& error) const {
    if (rank_ == 0) return false;
    return error.exit_code() == ExitCode::wrong_usage || meeting_.bootstrap->tell_failure(error);
  }

  int fail(int exit_code, const char* message, bool silent) {
    if (!silent && rank_ == 0) std::fprintf(stderr, "chiplog-probe: %s\n", message);
    if (!silent && rank_ != 0) std::fprintf(stderr, "chiplog-probe: rank %d: %s\n", rank_, message);
#ifdef CHIPLOG_WITH_MPI
    if (meeting_.mpi) MpiLibrary::abort(exit_code);
#endif
    return exit_code;
  }

  int argc_;
  char** argv_;
  Meeting meeting_;
  Rank rank_ = 0;
};

}  // namespace
}  // namespace chiplog

int main(int argc, char** argv) { return chiplog::Probe(argc, argv).run(); }
