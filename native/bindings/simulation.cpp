// The simulator and GOAL text for Python. Arrays of structures cross as bytes; chiplog.schedule.arrays has their
// layout.
#include "simulation.hpp"

#include <nanobind/ndarray.h>
#include <nanobind/stl/array.h>
#include <nanobind/stl/function.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <stdexcept>
#include <system_error>
#include <tuple>
#include <utility>
#include <vector>

#include "simulation/burst.hpp"
#include "simulation/goal.hpp"
#include "simulation/simulator.hpp"

namespace nb = nanobind;
using namespace nb::literals;
namespace simulation = chiplog::simulation;

namespace {

using Bytes = nb::ndarray<const std::uint8_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using OwnBytes = nb::ndarray<nb::numpy, std::uint8_t, nb::ndim<1>>;
using OwnTimes = nb::ndarray<nb::numpy, std::int64_t, nb::ndim<1>>;
using OwnIndices = nb::ndarray<nb::numpy, std::uint32_t, nb::ndim<1>>;

template <class T>
std::span<const T> view(const Bytes& bytes) {
  if (bytes.size() % sizeof(T) != 0 || reinterpret_cast<std::uintptr_t>(bytes.data()) % alignof(T) != 0)
    throw std::invalid_argument("an array does not have the layout of chiplog.schedule.arrays");
  return {reinterpret_cast<const T*>(bytes.data()), bytes.size() / sizeof(T)};
}

simulation::Schedule view(std::uint32_t ranks, const Bytes& operations, const Bytes& ends, const Bytes& starts) {
  return {ranks, view<simulation::Operation>(operations), view<simulation::Dependency>(ends),
          view<simulation::Dependency>(starts)};
}

// Moves `values` to Python, which frees them.
template <class Array, class T>
Array give(std::vector<T>&& values) {
  using Element = typename Array::Scalar;
  auto* kept = new std::vector<T>(std::move(values));
  nb::capsule owner(kept, [](void* vector) noexcept { delete static_cast<std::vector<T>*>(vector); });
  return Array(reinterpret_cast<Element*>(kept->data()), {kept->size() * sizeof(T) / sizeof(Element)}, owner);
}

std::size_t read_some(int descriptor, std::span<char> into) {
  for (;;) {
    const ssize_t got = ::read(descriptor, into.data(), into.size());
    if (got >= 0) return static_cast<std::size_t>(got);
    if (errno != EINTR) throw std::system_error(errno, std::generic_category());
  }
}

void write_all(int descriptor, std::span<const char> piece) {
  while (!piece.empty()) {
    const ssize_t put = ::write(descriptor, piece.data(), piece.size());
    if (put < 0 && errno != EINTR) throw std::system_error(errno, std::generic_category());
    if (put > 0) piece = piece.subspan(static_cast<std::size_t>(put));
  }
}

// So that control-C ends what runs without the interpreter.
void raise_if_interrupted() {
  const nb::gil_scoped_acquire held;
  if (PyErr_CheckSignals() != 0) throw nb::python_error();
}

using Arrays = std::tuple<std::uint32_t, OwnBytes, OwnBytes, OwnBytes, OwnIndices>;

Arrays read_goal(int descriptor) {
  simulation::OwnedSchedule read;
  {
    const nb::gil_scoped_release released;
    read = simulation::read_goal([&](std::span<char> into) {
      raise_if_interrupted();
      return read_some(descriptor, into);
    });
  }
  return {read.ranks, give<OwnBytes>(std::move(read.operations)), give<OwnBytes>(std::move(read.requires_end)),
          give<OwnBytes>(std::move(read.requires_start)), give<OwnIndices>(std::move(read.lines))};
}

void write_goal(int descriptor, std::uint32_t ranks, const Bytes& operations, const Bytes& ends, const Bytes& starts) {
  const simulation::Schedule schedule = view(ranks, operations, ends, starts);
  const nb::gil_scoped_release released;
  simulation::write_goal(schedule, [&](std::span<const char> piece) {
    raise_if_interrupted();
    write_all(descriptor, piece);
  });
}

using Counts = std::array<std::int64_t, 9>;
using Simulated = std::tuple<OwnTimes, std::uint64_t, OwnIndices, OwnIndices, OwnBytes, Counts, OwnBytes>;

Counts counts_of(const simulation::CriticalPath& path) {
  return {path.computing,
          path.send.starts,
          path.send.further_bytes,
          path.nic.starts,
          path.nic.further_bytes,
          path.receive.starts,
          path.receive.further_bytes,
          path.one_way.starts,
          path.one_way.further_bytes};
}

Simulated simulate(std::uint32_t ranks, const Bytes& operations, const Bytes& ends, const Bytes& starts,
                   const simulation::Parameters& parameters, bool trace, bool follow) {
  const simulation::Schedule schedule = view(ranks, operations, ends, starts);
  simulation::Outcome outcome;
  {
    const nb::gil_scoped_release released;
    outcome = simulation::simulate(schedule, parameters, {trace, raise_if_interrupted, follow});
  }
  return {give<OwnTimes>(std::move(outcome.finish)),
          outcome.events,
          give<OwnIndices>(std::move(outcome.unfinished)),
          give<OwnIndices>(std::move(outcome.unreceived)),
          give<OwnBytes>(std::move(outcome.trace)),
          counts_of(outcome.critical_path),
          give<OwnBytes>(std::move(outcome.critical_path.steps))};
}

using Table = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using OwnTable = nb::ndarray<nb::numpy, double, nb::ndim<2>>;

// Each column is one draw of costs, and a rank of its own.
OwnTable after_burst(const Table& columns, std::size_t count) {
  constexpr std::size_t given = 8;
  constexpr std::size_t told = 3;
  if (columns.shape(0) != given) throw std::invalid_argument("needs five costs and three times of a rank");
  const std::size_t draws = columns.shape(1);
  std::vector<double> after(told * draws);
  std::vector<double> arrivals;
  for (std::size_t draw = 0; draw < draws; ++draw) {
    const auto at = [&](std::size_t row) { return columns.data()[row * draws + draw]; };
    const simulation::RankTimes rank =
        simulation::after_burst({at(0), at(1), at(2), at(3), at(4)}, {at(5), at(6), at(7)}, count, arrivals);
    after[draw] = rank.free;
    after[draws + draw] = rank.send_nic;
    after[2 * draws + draw] = rank.receive_nic;
  }
  auto* kept = new std::vector<double>(std::move(after));
  nb::capsule owner(kept, [](void* vector) noexcept { delete static_cast<std::vector<double>*>(vector); });
  return OwnTable(kept->data(), {told, draws}, owner);
}

using LinePair = std::pair<std::int64_t, std::int64_t>;  // picoseconds, attoseconds per byte

simulation::Line line_of(const LinePair& pair) { return {pair.first, pair.second}; }

// A parameter of the simulator is a member of its structure and one line here.
void bind_parameters(nb::module_& module) {
  using simulation::Detour;
  using simulation::Distribution;
  using simulation::NoiseParameters;
  using simulation::PairClasses;
  using simulation::Parameters;
  using simulation::Protocol;
  nb::class_<Protocol>(module, "Protocol", "What messages from a size on take: lines in ps and as per byte.")
      .def(
          "__init__",
          [](Protocol* self, std::uint64_t first_bytes, const LinePair& send, const LinePair& nic,
             const LinePair& receive, const LinePair& one_way, bool receiver_keeps_up, bool arrives_whole) {
            new (self) Protocol{first_bytes,      line_of(send),     line_of(nic), line_of(receive),
                                line_of(one_way), receiver_keeps_up, arrives_whole};
          },
          nb::kw_only(), "first_bytes"_a, "send"_a, "nic"_a, "receive"_a, "one_way"_a, "receiver_keeps_up"_a,
          "arrives_whole"_a);
  nb::enum_<Distribution>(module, "Distribution", "Of what noise adds to an interval of CPU time.")
      .value("none", Distribution::none)
      .value("exponential", Distribution::exponential)
      .value("half_normal", Distribution::half_normal)
      .value("pareto", Distribution::pareto);
  nb::class_<Detour>(module, "Detour", "A time that a CPU loses.")
      .def(
          "__init__", [](Detour* self, std::int64_t start, std::int64_t length) { new (self) Detour{start, length}; },
          "start_ps"_a, "length_ps"_a);
  nb::class_<NoiseParameters>(module, "Noise", "What lengthens CPU times.")
      .def(nb::init<>())
      .def_rw("distribution", &NoiseParameters::distribution)
      .def_rw("mean_ps", &NoiseParameters::mean_ps)
      .def_rw("mean_share", &NoiseParameters::mean_share)
      .def_rw("probability", &NoiseParameters::probability)
      .def_rw("detours", &NoiseParameters::detours)
      .def_rw("seed", &NoiseParameters::seed);
  nb::class_<PairClasses>(module, "PairClasses", "Which protocols a message has where pairs of ranks differ.")
      .def(nb::init<>())
      .def_rw("classes", &PairClasses::classes)
      .def_rw("group_of_rank", &PairClasses::group_of_rank)
      .def_rw("class_of_groups", &PairClasses::class_of_groups);
  nb::class_<Parameters>(module, "Parameters", "All that a simulation depends on besides its schedule.")
      .def(nb::init<>())
      .def_rw("protocols", &Parameters::protocols)
      .def_rw("protocols_of_traffic", &Parameters::protocols_of_traffic)
      .def_rw("S_bytes", &Parameters::S_bytes)
      .def_rw("pairs", &Parameters::pairs)
      .def_rw("free_messages", &Parameters::free_messages)
      .def_rw("ranks_per_node", &Parameters::ranks_per_node)
      .def_rw("node_attoseconds_per_byte", &Parameters::node_attoseconds_per_byte)
      .def_rw("noise", &Parameters::noise);
}

}  // namespace

void bind_simulation(nb::module_& module) {
  nb::register_exception_translator(
      [](const std::exception_ptr& thrown, void*) {
        try {
          std::rethrow_exception(thrown);
        } catch (const simulation::GoalError& error) {
          PyErr_SetObject(PyExc_ValueError, nb::make_tuple(error.line(), error.what()).ptr());
        } catch (const std::system_error& error) {
          errno = error.code().value();
          PyErr_SetFromErrno(PyExc_OSError);
        }
      },
      nullptr);
  module.def("read_goal", &read_goal, "descriptor"_a,
             "(ranks, operations, requires_end, requires_start, lines) of a GOAL text; ValueError(line, sentence).");
  module.def("write_goal", &write_goal, "descriptor"_a, "ranks"_a, "operations"_a, "requires_end"_a, "requires_start"_a,
             "Write a schedule as GOAL text.");
  module.def(
      "after_burst", &after_burst, "columns"_a, "count"_a,
      "When a rank's CPU and its two NICs are free after a burst, shape (3, draws), from five costs of a message "
      "and the three times before, shape (8, draws).");
  bind_parameters(module);
  module.def("simulate", &simulate, "ranks"_a, "operations"_a, "requires_end"_a, "requires_start"_a, "parameters"_a,
             nb::kw_only(), "trace"_a, "follow"_a,
             "(finish_ps, events, unfinished, unreceived, trace, counts, path) under LogGOPS; OverflowError beyond "
             "2^63 ps.");
}
