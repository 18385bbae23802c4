// The simulator and GOAL text for Python. Arrays of structures cross as bytes; chiplog.schedule.arrays has their
// layout.
#include "simulation.hpp"

#include <nanobind/ndarray.h>
#include <nanobind/stl/function.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>
#include <unistd.h>

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

// first_bytes; of the sender's CPU, the NICs, the receiver's CPU and the whole way the start in picoseconds and the
// attoseconds per byte; whether the receiver keeps up, and
// whether messages arrive as a whole
using ProtocolTuple = std::tuple<std::uint64_t, std::int64_t, std::int64_t, std::int64_t, std::int64_t, std::int64_t,
                                 std::int64_t, std::int64_t, std::int64_t, bool, bool>;
using DetourTuple = std::tuple<std::int64_t, std::int64_t>;  // start and length in picoseconds
// distribution, mean in picoseconds, mean as a share, probability, seed
using NoiseTuple = std::tuple<std::uint8_t, double, double, double, std::uint64_t>;
using Simulated = std::tuple<OwnTimes, std::uint64_t, OwnIndices, OwnIndices, OwnBytes>;

simulation::Protocols protocols_of(const std::vector<ProtocolTuple>& tuples) {
  simulation::Protocols protocols;
  for (const auto& [first, send, send_as, nic, nic_as, receive, receive_as, way, way_as, keeps_up, whole] : tuples)
    protocols.push_back({first, {send, send_as}, {nic, nic_as}, {receive, receive_as}, {way, way_as}, keeps_up, whole});
  return protocols;
}

simulation::NoiseParameters noise_of(const NoiseTuple& tuple, const std::vector<DetourTuple>& detours) {
  const auto& [distribution, mean_ps, mean_share, probability, seed] = tuple;
  if (distribution > static_cast<std::uint8_t>(simulation::Distribution::pareto))
    throw std::invalid_argument("there is no such distribution");
  simulation::NoiseParameters noise{
      static_cast<simulation::Distribution>(distribution), mean_ps, mean_share, probability, {}, seed};
  for (const auto& [start, length] : detours) noise.detours.push_back({start, length});
  return noise;
}

Simulated simulate(std::uint32_t ranks, const Bytes& operations, const Bytes& ends, const Bytes& starts,
                   const std::vector<ProtocolTuple>& protocols, std::uint64_t S_bytes, bool trace,
                   const std::vector<std::vector<ProtocolTuple>>& classes, std::vector<std::uint16_t> group_of_rank,
                   std::vector<std::uint16_t> class_of_groups, std::uint32_t free_messages,
                   std::uint32_t ranks_per_node, std::int64_t node_attoseconds_per_byte, const NoiseTuple& noise,
                   const std::vector<DetourTuple>& detours) {
  const simulation::Schedule schedule = view(ranks, operations, ends, starts);
  simulation::Parameters parameters{
      protocols_of(protocols), S_bytes,        {{}, std::move(group_of_rank), std::move(class_of_groups)},
      free_messages,           ranks_per_node, node_attoseconds_per_byte,
      noise_of(noise, detours)};
  for (const std::vector<ProtocolTuple>& one : classes) parameters.pairs.classes.push_back(protocols_of(one));
  simulation::Outcome outcome;
  {
    const nb::gil_scoped_release released;
    outcome = simulation::simulate(schedule, parameters, {trace, raise_if_interrupted});
  }
  return {give<OwnTimes>(std::move(outcome.finish)), outcome.events, give<OwnIndices>(std::move(outcome.unfinished)),
          give<OwnIndices>(std::move(outcome.unreceived)), give<OwnBytes>(std::move(outcome.trace))};
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
  module.def("simulate", &simulate, "ranks"_a, "operations"_a, "requires_end"_a, "requires_start"_a, nb::kw_only(),
             "protocols"_a, "S_bytes"_a, "trace"_a, "classes"_a, "group_of_rank"_a, "class_of_groups"_a,
             "free_messages"_a, "ranks_per_node"_a, "node_attoseconds_per_byte"_a, "noise"_a, "detours"_a,
             "(finish_ps, events, unfinished, unreceived, trace) under LogGOPS; OverflowError beyond 2^63 ps.");
}
