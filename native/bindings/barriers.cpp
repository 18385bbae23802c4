// The table of barrier algorithms for Python.
#include "barriers.hpp"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/barrier_algorithms.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace {

const chiplog::BarrierAlgorithm& known(std::string_view name) {
  const chiplog::BarrierAlgorithm* found = chiplog::find_barrier(name);
  if (found == nullptr) throw std::invalid_argument("there is no barrier algorithm " + std::string(name));
  return *found;
}

using Rounds = std::vector<std::pair<std::vector<int>, std::vector<int>>>;

Rounds schedule(std::string_view name, int ranks, int rank, int peers) {
  const chiplog::BarrierAlgorithm& algorithm = known(name);
  if (ranks < 1 || rank < 0 || rank >= ranks) throw std::invalid_argument("needs 0 <= rank < ranks");
  if (algorithm.takes_peers() && peers < 1) throw std::invalid_argument("needs 1 or more peers");
  Rounds rounds;
  for (chiplog::BarrierRound& one : algorithm.schedule(ranks, rank, peers)) {
    rounds.emplace_back(std::move(one.tells), std::move(one.hears));
  }
  return rounds;
}

}  // namespace

void bind_barriers(nb::module_& module) {
  module.def(
      "barrier_algorithms",
      [] {
        std::vector<std::string> names;
        for (const chiplog::BarrierAlgorithm& one : chiplog::barrier_algorithms) {
          if (one.trials != nullptr) names.emplace_back(one.name);
        }
        return names;
      },
      "The names of the barrier algorithms that the library has, each once.");
  module.def(
      "barrier_trials",
      [](std::string_view name, int ranks) {
        const chiplog::BarrierAlgorithm& algorithm = known(name);
        return algorithm.trials == nullptr ? std::vector<int>() : algorithm.trials(ranks);
      },
      "name"_a, "ranks"_a,
      "The numbers of peers worth trying among `ranks` ranks; [0] if the algorithm takes no number of peers.");
  module.def("barrier_schedule", &schedule, "name"_a, "ranks"_a, "rank"_a, "peers"_a,
             "What a rank does: (whom it tells, whom it waits for) by round.");
}
