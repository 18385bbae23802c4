// Races variants of an MPI (the algorithms of its collective operations, forced by control variables) against each
// other in one launch, cell by cell; rank 0 prints a JSON line for all that happens. `chiplog tune --measure` starts
// it, many times, and reads them.

#include <mpi.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <map>
#include <memory>
#include <numeric>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "check.hpp"
#include "chiplog-bench/clock.hpp"
#include "chiplog-bench/modes.hpp"
#include "chiplog-bench/operations.hpp"
#include "chiplog-bench/synchronise.hpp"
#include "chiplog/error.hpp"
#include "chiplog/median.hpp"
#include "core/json_object.hpp"
#include "cvars.hpp"
#include "emulations.hpp"
#include "plan.hpp"
#include "seats.hpp"

namespace chiplog::race {
namespace {

using bench::Buffers;
using bench::Sample;

constexpr double floor_share = 0.1;  // of the shortest time, above which windows can't tell it
constexpr double quick_ns = 1e6;     // trials below it are repeated
constexpr int most_trials = 5;
constexpr double long_ns = 10e6;     // where the shortest takes as long, a first call tells who is far behind,
constexpr double set_up_factor = 2;  // by more than it may set up
constexpr double sure_ns = 100e6;    // and above this what it sets up is a small part of it
constexpr int floor_windows = 5;
constexpr double block_ns = 1e6;  // what a variant's turn takes, and warming up
constexpr int most_in_block = 20;
constexpr double idle_ns = 200'000;  // between two looks of a rank that takes no part
constexpr double least_lead_ns = 10'000;
constexpr double lead_over_agreement = 4;

void print(const JsonObject& line) {
  std::printf("%s\n", line.text().c_str());
  std::fflush(stdout);
}

// Of the same ranks, for which Open MPI does not ask this component of its collective operations. Others don't know the
// key, and ignore it.
MPI_Comm duplicate_without(const std::string& component, MPI_Comm original) {
  MPI_Info preference = MPI_INFO_NULL;
  MPI_Comm made = MPI_COMM_NULL;
  PMPI_Info_create(&preference);
  PMPI_Info_set(preference, "ompi_comm_coll_preference", ("^" + component).c_str());
  PMPI_Comm_dup_with_info(original, preference, &made);
  PMPI_Info_free(&preference);
  return made;
}

MPI_Comm duplicate(MPI_Comm original) {
  MPI_Comm made = MPI_COMM_NULL;
  PMPI_Comm_dup(original, &made);
  return made;
}

// The ranks of one size. Its variants' communicators are made when they are needed.
class Group {
 public:
  Group(bool is_member, std::string without) : without_(std::move(without)), is_member_(is_member) {
    int rank = 0;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    PMPI_Comm_split(MPI_COMM_WORLD, is_member_ ? 0 : MPI_UNDEFINED, rank, &meet_);
    if (!is_member_) return;
    PMPI_Comm_set_errhandler(meet_, MPI_ERRORS_RETURN);
    clock_ = bench::synchronise_undisturbed(meet_, {10, 10, 10e6}).clock;
    const double agreement = agreement_ns();
    lead_ns = least_lead_ns + lead_over_agreement * agreement;
  }

  [[nodiscard]] bool is_member() const { return is_member_; }
  [[nodiscard]] MPI_Comm meet() const { return meet_; }
  [[nodiscard]] const bench::ClockModel& clock() const { return clock_; }

  MPI_Comm of(const Variant& variant) {
    const auto found = communicators_.find(variant.name);
    if (found != communicators_.end()) return found->second;
    const Applied applied(variant.settings);
    const bool is_forced = !variant.settings.empty() && !without_.empty();
    MPI_Comm made = is_forced ? duplicate_without(without_, meet_) : duplicate(meet_);
    PMPI_Comm_set_errhandler(made, MPI_ERRORS_RETURN);
    communicators_.emplace(variant.name, made);
    return made;
  }

  double lead_ns = 0;

 private:
  double agreement_ns() {
    std::vector<double> took;
    for (int i = 0; i < 20; ++i) {
      double value = bench::now_ns();
      const double begin = value;
      double all = 0;
      PMPI_Allreduce(&value, &all, 1, MPI_DOUBLE, MPI_MAX, meet_);
      took.push_back(bench::now_ns() - begin);
    }
    double mine = median(took);
    PMPI_Bcast(&mine, 1, MPI_DOUBLE, 0, meet_);
    return mine;
  }

  std::string without_;
  bool is_member_ = false;
  MPI_Comm meet_ = MPI_COMM_NULL;
  bench::ClockModel clock_;
  std::map<std::string, MPI_Comm> communicators_;
};

double from_root(double value, MPI_Comm world) {
  PMPI_Bcast(&value, 1, MPI_DOUBLE, 0, world);
  return value;
}

int nothing(Buffers&, MPI_Comm) { return MPI_SUCCESS; }

// One variant in one cell.
struct Runner {
  const Variant* variant = nullptr;
  bench::Call call = nullptr;
  MPI_Comm world = MPI_COMM_NULL;
  double trial_ns = 0;
  std::vector<Sample> in_windows;
  std::vector<Sample> after_barriers;
};

using Reasons = std::map<std::string, std::string>;

class Race {
 public:
  // `wrong` has the variants of this launch whose results are wrong; they take no part any more.
  Race(const Plan& plan, std::size_t number, Group& group, std::mt19937& random, Reasons& wrong)
      : plan_(plan),
        cell_(plan.cells[number]),
        number_(number),
        group_(group),
        random_(random),
        wrong_(wrong),
        operation_(bench::find_operation(cell_.operation)),
        buffers_(cell_.bytes, cell_.ranks, bench::find_datatype(cell_.datatype)) {
    PMPI_Comm_rank(group.meet(), &rank_);
  }

  void run() {
    for (const std::size_t index : cell_.variants) try_variant(plan_.variants[index]);
    if (runners_.empty()) return;
    drop_slow();
    choose_mode();
    for (const Runner& one : runners_) warm_up(one);
    const int count = turns();
    for (int turn = 0; turn < count; ++turn) take_turns(uses_windows_ && turn % 2 == 0);
    for (const Runner& one : runners_) {
      report(one, "window", one.in_windows);
      report(one, "barrier", one.after_barriers);
    }
  }

 private:
  JsonObject line(const char* type, const Variant& variant) const {
    return JsonObject().add("type", type).add("cell", static_cast<std::int64_t>(number_)).add("variant", variant.name);
  }

  // Warms up, checks and times a variant; one that fails is reported and takes no part.
  void try_variant(const Variant& variant) {
    if (rank_ == 0) print(line("begin", variant));
    const std::string reason = trial_fails(variant);
    if (!reason.empty() && rank_ == 0) print(line("refused", variant).add("reason", reason));
  }

  // What is clearly slow has one call or two; `drop_slow` reports it.
  std::string trial_fails(const Variant& variant) {
    if (wrong_.count(variant.name) > 0) return wrong_.at(variant.name);
    const MPI_Comm world = group_.of(variant);
    const Applied applied(variant.settings);
    const bench::Call call = variant.is_emulation ? find_emulation(cell_.operation, variant.name) : operation_.own;
    const FirstCall first = first_call(cell_.operation, {call, buffers_, world, group_.meet()}, plan_.checks);
    if (first.is_refused) return "the MPI refuses it here";
    if (first.is_wrong) return wrong_[variant.name] = "its result is wrong";
    const bool is_behind = !runners_.empty() && shortest_ns() >= long_ns && first.ns > set_up_factor * limit_ns();
    const double time_ns =
        is_behind || first.ns >= sure_ns ? first.ns : trial_ns({call, buffers_, world, group_.meet()});
    const bool checks_order = plan_.checks && !plan_.commutative && (runners_.empty() || time_ns <= limit_ns());
    if (checks_order && mixes_the_order(cell_.operation, cell_.bytes, world, group_.meet())) {
      return wrong_[variant.name] = "its result is wrong for operations that do not commute";
    }
    runners_.push_back({&variant, call, world, time_ns, {}, {}});
    return "";
  }

  bench::Timed timed(const Runner& runner) { return {runner.call, buffers_, runner.world, group_.meet()}; }

  // The shortest of a few calls, the same on all ranks.
  double trial_ns(const bench::Timed& timed) const {
    double shortest = from_root(bench::after_barriers(timed, 1)[0].seconds * 1e9, group_.meet());
    for (int i = 1; i < most_trials && shortest < quick_ns; ++i) {
      shortest = std::min(shortest, from_root(bench::after_barriers(timed, 1)[0].seconds * 1e9, group_.meet()));
    }
    return shortest;
  }

  double shortest_ns() const {
    const auto least = std::min_element(runners_.begin(), runners_.end(),
                                        [](const Runner& a, const Runner& b) { return a.trial_ns < b.trial_ns; });
    return std::max(1.0, least->trial_ns);
  }

  double limit_ns() const { return plan_.cutoff * shortest_ns(); }

  // The default, which comes first, always stays.
  void drop_slow() {
    const double limit = limit_ns();
    std::vector<Runner> kept;
    for (Runner& one : runners_) {
      if (one.trial_ns <= limit || &one == runners_.data()) {
        kept.push_back(one);
      } else if (rank_ == 0) {
        print(line("slow", *one.variant).add("seconds", one.trial_ns * 1e-9));
      }
    }
    runners_ = kept;
  }

  // Start windows, where they can tell this operation: ranks start in time without waiting longer than it takes, or,
  // where it takes long, than the small part of it by which ranks leave a barrier at different times.
  void choose_mode() {
    lead_ns_ = group_.lead_ns;
    uses_windows_ = false;
    for (bool tries = true; tries && !uses_windows_; lead_ns_ *= uses_windows_ ? 1 : 2) {
      uses_windows_ = from_root(windows_work() ? 1 : 0, group_.meet()) > 0;
      tries = lead_ns_ < (shortest_ns() < long_ns ? shortest_ns() : floor_share * shortest_ns());
    }
  }

  // Whether a few windows of no operation at all have an end soon after their start.
  bool windows_work() {
    std::vector<double> took;
    for (const Sample& one : windows({nothing, buffers_, group_.meet(), group_.meet()}, floor_windows)) {
      if (one.valid) took.push_back(one.seconds * 1e9);
    }
    return 2 * took.size() > static_cast<std::size_t>(floor_windows) && median(took) <= floor_share * shortest_ns();
  }

  std::vector<Sample> windows(const bench::Timed& timed, int count) {
    return bench::start_windows(timed, group_.clock(), count, lead_ns_);
  }

  // An MPI touches buffers for the first time in some fifty calls of a size, each of which takes several times as long.
  void warm_up(const Runner& one) {
    const Applied applied(one.variant->settings);
    static_cast<void>(bench::after_barriers(timed(one), static_cast<int>(block_ns / std::max(1e3, one.trial_ns))));
  }

  int block(const Runner& one) const {
    const int fit = static_cast<int>(block_ns / std::max(1.0, one.trial_ns));
    return std::clamp(fit, 1, std::min(most_in_block, plan_.samples));
  }

  // As many turns as the cell has time for, with enough samples of the variant that has the fewest. Both ways to begin
  // get as many, unless one sample a variant is enough.
  int turns() const {
    double one_turn_ns = 1;
    int fewest = most_in_block;
    for (const Runner& one : runners_) {
      one_turn_ns += block(one) * one.trial_ns;
      fewest = std::min(fewest, block(one));
    }
    const int least = (plan_.least + fewest - 1) / fewest;
    const int most = std::max(least, plan_.samples / fewest);
    const int count = static_cast<int>(std::clamp(plan_.cell_ns / one_turn_ns, 1.0 * least, 1.0 * most));
    const bool has_both_ways = uses_windows_ && (plan_.least > 1 || count > 1);
    return has_both_ways ? count + count % 2 : count;
  }

  void take_turns(bool in_windows) {
    std::vector<std::size_t> order(runners_.size());
    std::iota(order.begin(), order.end(), 0);
    for (std::size_t left = order.size(); left > 1; --left) std::swap(order[left - 1], order[random_() % left]);
    for (const std::size_t index : order) {
      Runner& one = runners_[index];
      const Applied applied(one.variant->settings);
      const std::vector<Sample> more =
          in_windows ? windows(timed(one), block(one)) : bench::after_barriers(timed(one), block(one));
      std::vector<Sample>& all = in_windows ? one.in_windows : one.after_barriers;
      all.insert(all.end(), more.begin(), more.end());
    }
  }

  void report(const Runner& one, const char* mode, const std::vector<Sample>& samples) const {
    if (rank_ != 0 || samples.empty()) return;
    std::vector<std::string> seconds;
    std::vector<std::string> late;
    for (const Sample& sample : samples) {
      (sample.valid ? seconds : late).push_back(json_number(sample.seconds));
    }
    print(line("samples", *one.variant)
              .add("mode", mode)
              .add_json("seconds", json_array(seconds))
              .add_json("late", json_array(late)));
  }

  const Plan& plan_;
  const Cell& cell_;
  std::size_t number_;
  Group& group_;
  std::mt19937& random_;
  Reasons& wrong_;
  const bench::Operation& operation_;
  Buffers buffers_;
  std::vector<Runner> runners_;
  int rank_ = 0;
  bool uses_windows_ = false;
  double lead_ns_ = 0;
};

// Which of all ranks are in the communicator of so many.
void print_members(int wanted, bool is_in) {
  int rank = 0;
  int ranks = 0;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  PMPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const int here = is_in ? 1 : 0;
  std::vector<int> all(static_cast<std::size_t>(ranks));
  PMPI_Gather(&here, 1, MPI_INT, all.data(), 1, MPI_INT, 0, MPI_COMM_WORLD);
  std::vector<std::string> members;
  for (int other = 0; other < ranks; ++other) {
    if (all[static_cast<std::size_t>(other)] != 0) members.push_back(std::to_string(other));
  }
  if (rank == 0) print(JsonObject().add("type", "members").add("ranks", wanted).add_json("of", json_array(members)));
}

// A rank that takes no part must not take a core from those that do.
void meet_again() {
  MPI_Request request = MPI_REQUEST_NULL;
  PMPI_Ibarrier(MPI_COMM_WORLD, &request);
  for (int done = 0; done == 0;) {
    PMPI_Test(&request, &done, MPI_STATUS_IGNORE);
    if (done == 0) bench::sleep_ns(idle_ns);
  }
}

void run(const Plan& plan) {
  int rank = 0;
  int ranks = 0;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  PMPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const int hosts = count_hosts();
  if (rank == 0) print(JsonObject().add("type", "launch").add("ranks", ranks).add("hosts", hosts));
  if (!plan.cvars.empty() && rank == 0) print_cvars(plan.cvars);
  std::map<int, std::unique_ptr<Group>> groups;
  std::mt19937 random(plan.seed);
  Reasons wrong;
  for (std::size_t number = 0; number < plan.cells.size(); ++number) {
    const int wanted = plan.cells[number].ranks;
    if (wanted > ranks) throw UsageError("a cell has " + std::to_string(wanted) + " ranks, more than were started");
    if (groups.count(wanted) == 0) {
      const bool is_in = is_member(wanted, plan.shape);
      groups.emplace(wanted, std::make_unique<Group>(is_in, plan.without));
      print_members(wanted, is_in);
    }
    Group& group = *groups.at(wanted);
    if (group.is_member()) Race(plan, number, group, random, wrong).run();
    if (wanted < ranks) meet_again();
  }
  if (rank == 0) print(JsonObject().add("type", "end"));
}

}  // namespace
}  // namespace chiplog::race

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int code = EXIT_SUCCESS;
  try {
    const chiplog::race::Tools tools;
    chiplog::race::run(chiplog::race::parse_plan(argc, argv));
  } catch (const chiplog::Error& error) {
    // All ranks have the same arguments; one says what is wrong with them.
    if (rank == 0) std::fprintf(stderr, "chiplog-race: %s\n", error.what());
    code = static_cast<int>(error.exit_code());
  } catch (const std::exception& error) {
    std::fprintf(stderr, "chiplog-race: rank %d: %s\n", rank, error.what());
    code = static_cast<int>(chiplog::ExitCode::run_failed);
  }
  std::fflush(stdout);
  MPI_Finalize();
  return code;
}
