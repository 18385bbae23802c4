// Times one collective operation; rank 0 prints JSON lines: one about the launch and its clocks, one for each mode and
// variant with all samples. `chiplog bench` starts it, several times, and reads them.

#include <mpi.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <random>
#include <string>
#include <vector>

#include "chiplog/error.hpp"
#include "chiplog/median.hpp"
#include "clock.hpp"
#include "clock_model.hpp"
#include "core/json_object.hpp"
#include "modes.hpp"
#include "operations.hpp"
#include "options.hpp"
#include "synchronise.hpp"

namespace chiplog::bench {
namespace {

constexpr int trials = 20;
constexpr double lead_over_agreement = 4;
constexpr double least_lead_ns = 10'000;
constexpr double most_round_ns = 1e6;
constexpr std::array mode_names{"window", "barrier", "round"};

struct Variant {
  const char* name;
  Call call;
  std::array<std::vector<Sample>, mode_names.size()> samples;
};

std::vector<Variant> variants_of(const Operation& operation, bool compare) {
  if (!compare) return {{"mpi", operation.own, {}}};
  return {{"mpi", operation.own, {}}, {"library", operation.intercepted, {}}};
}

void append(std::vector<Sample>& all, const std::vector<Sample>& more) {
  all.insert(all.end(), more.begin(), more.end());
}

double from_root(double value, MPI_Comm world) {
  PMPI_Bcast(&value, 1, MPI_DOUBLE, 0, world);
  return value;
}

int agree(Buffers&, MPI_Comm world) {
  const double mine = 0;
  double all = 0;
  return PMPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_MAX, world);
}

int nothing(Buffers&, MPI_Comm) { return MPI_SUCCESS; }

double median_ns(const std::vector<Sample>& samples) {
  std::vector<double> seconds;
  for (const Sample& one : samples) seconds.push_back(one.seconds);
  return median(seconds) * 1e9;
}

// The median after a barrier, the same on all ranks.
double trial_ns(Call call, Buffers& buffers, MPI_Comm world) {
  return from_root(median_ns(after_barriers({call, buffers, world}, trials)), world);
}

// Where ranks were late for more than half of a block, the next ones are told twice as early.
double next_lead_ns(const std::vector<Sample>& block, double lead_ns, MPI_Comm world) {
  const auto invalid = std::count_if(block.begin(), block.end(), [](const Sample& one) { return !one.valid; });
  if (2 * invalid > static_cast<std::ptrdiff_t>(block.size())) lead_ns *= 2;
  return from_root(lead_ns, world);
}

// How a launch went about it: may change from block to block, alike on all ranks.
struct Course {
  double lead_ns = 0;
  int calls = 1;
  double floor_ns = 0;  // what a start window says of no operation at all
};

// The lead: four times what it takes to agree on a start, and some slack. The calls: what a sample has time for.
Course plan(const std::vector<Variant>& variants, Buffers& buffers, MPI_Comm world, const Options& options) {
  double slowest_ns = 1;
  for (const Variant& variant : variants) slowest_ns = std::max(slowest_ns, trial_ns(variant.call, buffers, world));
  const double lead_ns = least_lead_ns + lead_over_agreement * trial_ns(agree, buffers, world);
  const auto calls = static_cast<int>(most_round_ns / slowest_ns);
  return {options.lead_ns > 0 ? options.lead_ns : lead_ns, std::clamp(calls, 1, options.calls)};
}

// One block of one variant and mode; `course` learns from start windows.
std::vector<Sample> run_block(const Timed& timed, std::size_t mode, int samples, const ClockModel& clock,
                              Course& course) {
  if (mode == 1) return after_barriers(timed, samples);
  if (mode == 2) return rounds(timed, samples, course.calls);
  std::vector<Sample> found = start_windows(timed, clock, samples, course.lead_ns);
  course.lead_ns = next_lead_ns(found, course.lead_ns, timed.world);
  return found;
}

// Blocks of the variants in turn, in an order that every rank draws alike.
Course measure(std::vector<Variant>& variants, Buffers& buffers, MPI_Comm world, const ClockModel& clock,
               const Options& options) {
  std::mt19937 random(options.seed);
  Course course = plan(variants, buffers, world, options);
  const double end_ns = now_ns() + options.budget_ns;
  for (int done = 0; done < options.samples; done += options.block) {
    const int block = std::min(options.block, options.samples - done);
    for (std::size_t mode = 0; mode < mode_names.size(); ++mode) {
      if (random() % 2 == 1) std::reverse(variants.begin(), variants.end());
      for (Variant& variant : variants) {
        append(variant.samples[mode], run_block({variant.call, buffers, world}, mode, block, clock, course));
      }
    }
    if (from_root(now_ns() > end_ns ? 1 : 0, world) != 0) break;
  }
  course.floor_ns = median_ns(start_windows({nothing, buffers, world}, clock, trials, course.lead_ns));
  return course;
}

void print(const JsonObject& line) { std::printf("%s\n", line.text().c_str()); }

void print_samples(const Variant& variant, std::size_t mode) {
  std::vector<std::string> seconds;
  std::vector<std::string> invalid;
  for (const Sample& one : variant.samples[mode]) {
    if (!one.valid) invalid.push_back(std::to_string(seconds.size()));
    seconds.push_back(json_number(one.seconds));
  }
  print(JsonObject()
            .add("type", "samples")
            .add("mode", mode_names[mode])
            .add("variant", variant.name)
            .add_json("seconds", json_array(seconds))
            .add_json("invalid", json_array(invalid)));
}

std::string name_of_mpi() {
  char library[MPI_MAX_LIBRARY_VERSION_STRING] = "";
  int length = 0;
  PMPI_Get_library_version(library, &length);
  std::string name;
  for (const char* at = library; *at != '\0' && *at != '\n'; ++at) {
    if (*at >= ' ') name += *at;
  }
  return name;
}

// Rank by rank: offset, drift, residual, shortest round trip, and how far off the clock was at the end.
void print_launch(MPI_Comm world, const Synchronised& mine, double off_ns, const Course& course,
                  const Options& options) {
  int rank = 0;
  int ranks = 0;
  PMPI_Comm_rank(world, &rank);
  PMPI_Comm_size(world, &ranks);
  const std::array<double, 5> row{mine.clock.offset_ns, mine.clock.drift, mine.clock.residual_ns,
                                  mine.shortest_round_trip_ns, off_ns};
  std::vector<double> all(row.size() * static_cast<std::size_t>(ranks));
  PMPI_Gather(row.data(), 5, MPI_DOUBLE, all.data(), 5, MPI_DOUBLE, 0, world);
  if (rank != 0) return;
  std::vector<std::string> clocks;
  for (int other = 0; other < ranks; ++other) {
    const double* at = &all[row.size() * static_cast<std::size_t>(other)];
    clocks.push_back(JsonObject()
                         .add("rank", other)
                         .add("offset_seconds", at[0] * 1e-9)
                         .add("drift", at[1])
                         .add("residual_seconds", at[2] * 1e-9)
                         .add("round_trip_seconds", at[3] * 1e-9)
                         .add("off_at_end_seconds", at[4] * 1e-9)
                         .text());
  }
  print(JsonObject()
            .add("type", "launch")
            .add("ranks", ranks)
            .add("operation", options.operation)
            .add("datatype", options.type)
            .add("bytes", options.bytes)
            .add("calls", course.calls)
            .add("lead_seconds", course.lead_ns * 1e-9)
            .add("floor_seconds", course.floor_ns * 1e-9)
            .add("mpi", name_of_mpi())
            .add_json("clocks", json_array(clocks)));
}

void run(const Options& options) {
  MPI_Comm world = MPI_COMM_WORLD;
  int rank = 0;
  int ranks = 0;
  PMPI_Comm_rank(world, &rank);
  PMPI_Comm_size(world, &ranks);
  const Operation& operation = find_operation(options.operation);
  Buffers buffers(options.bytes, ranks, find_datatype(options.type));
  std::vector<Variant> variants = variants_of(operation, options.compare);
  for (const Variant& variant : variants) {
    for (int i = 0; i < trials; ++i) variant.call(buffers, world);
  }
  const Synchronised mine = synchronise_undisturbed(world, options.sync);
  const Course course = measure(variants, buffers, world, mine.clock, options);
  const double off_ns = check_against_root(world, mine.clock, options.sync.exchanges).off_ns;
  print_launch(world, mine, off_ns, course, options);
  if (rank != 0) return;
  std::sort(variants.begin(), variants.end(),
            [](const Variant& a, const Variant& b) { return std::string(a.name) > b.name; });
  for (const Variant& variant : variants) {
    for (std::size_t mode = 0; mode < mode_names.size(); ++mode) print_samples(variant, mode);
  }
}

}  // namespace
}  // namespace chiplog::bench

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int code = EXIT_SUCCESS;
  try {
    chiplog::bench::run(chiplog::bench::parse_options(argc, argv));
  } catch (const chiplog::Error& error) {
    // All ranks have the same arguments; one says what is wrong with them.
    if (rank == 0) std::fprintf(stderr, "chiplog-bench: %s\n", error.what());
    code = static_cast<int>(error.exit_code());
  } catch (const std::exception& error) {
    std::fprintf(stderr, "chiplog-bench: rank %d: %s\n", rank, error.what());
    code = static_cast<int>(chiplog::ExitCode::run_failed);
  }
  std::fflush(stdout);
  MPI_Finalize();
  return code;
}
