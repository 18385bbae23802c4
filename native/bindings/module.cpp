// chiplog._native: the numerical kernels of the analysis for Python.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/vector.h>

#include <cstddef>
#include <limits>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include "analysis/segmentation.hpp"
#include "barriers.hpp"
#include "simulation.hpp"

namespace nb = nanobind;
using namespace nb::literals;
using chiplog::analysis::Limits;
using chiplog::analysis::Line;
using chiplog::analysis::Segmentation;
using chiplog::analysis::Segmenter;

namespace {

using Matrix = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Vector = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Breaks = std::pair<double, std::vector<std::size_t>>;

std::span<const double> view(const Vector& values) { return {values.data(), values.size()}; }

Breaks plain(Segmentation segmentation) { return {segmentation.cost, std::move(segmentation.begins)}; }

void require_range(const Segmenter& segmenter, std::size_t begin, std::size_t end) {
  if (begin >= end || end > segmenter.size()) throw std::out_of_range("needs 0 <= begin < end <= number of sizes");
}

void require_breaks(const Segmenter& segmenter, const std::vector<std::size_t>& begins) {
  if (begins.empty() || begins.front() != 0) throw std::invalid_argument("the first segment must begin at 0");
  for (std::size_t k = 1; k < begins.size(); ++k)
    if (begins[k] <= begins[k - 1] || begins[k] >= segmenter.size())
      throw std::invalid_argument("the begins must ascend within the series");
}

}  // namespace

NB_MODULE(_native, module) {
  module.doc() = "Native kernels of chiplog's analysis, its simulator, and the table of barrier algorithms.";
  bind_barriers(module);
  bind_simulation(module);
  nb::class_<Limits>(module, "Limits", "What a segment must cover.")
      .def(
          "__init__",
          [](Limits* self, double min_bytes, std::size_t min_points, double min_factor, std::size_t min_points_sparse,
             double min_factor_sparse) {
            new (self) Limits{min_bytes, min_points, min_factor, min_points_sparse, min_factor_sparse};
          },
          nb::kw_only(), "min_bytes"_a, "min_points"_a, "min_factor"_a, "min_points_sparse"_a, "min_factor_sparse"_a);
  nb::class_<Segmenter>(module, "Segmenter", "All segment costs of one series and its optimal segmentations.")
      .def(
          "__init__",
          [](Segmenter* self, const Vector& bytes, const Vector& seconds, const Vector& weights, const Limits& limits,
             double cap) { new (self) Segmenter(view(bytes), view(seconds), view(weights), limits, cap); },
          "bytes"_a, "seconds"_a, "weights"_a, "limits"_a, "cap"_a = std::numeric_limits<double>::infinity())
      .def("__len__", &Segmenter::size)
      .def(
          "admissible",
          [](const Segmenter& self, std::size_t begin, std::size_t end) {
            require_range(self, begin, end);
            return self.admissible(begin, end);
          },
          "begin"_a, "end"_a, "Whether sizes [begin, end) are long enough to be a segment.")
      .def(
          "cost",
          [](const Segmenter& self, std::size_t begin, std::size_t end) {
            require_range(self, begin, end);
            return self.cost(begin, end);
          },
          "begin"_a, "end"_a, "Cost of the best line through sizes [begin, end).")
      .def(
          "line",
          [](const Segmenter& self, std::size_t begin, std::size_t end) {
            require_range(self, begin, end);
            const Line line = self.line(begin, end);
            return std::pair{line.intercept_seconds, line.slope_seconds_per_byte};
          },
          "begin"_a, "end"_a, "(seconds at size 0, seconds per byte), both >= 0, of sizes [begin, end).")
      .def(
          "solve",
          [](const Segmenter& self, std::size_t max_segments) {
            std::vector<Breaks> all;
            for (Segmentation& segmentation : self.solve(max_segments)) all.push_back(plain(std::move(segmentation)));
            return all;
          },
          "max_segments"_a, "(cost, begins) of the optimal segmentations into 1, 2, ... segments.")
      .def(
          "settle",
          [](const Segmenter& self, std::vector<std::size_t> begins) {
            require_breaks(self, begins);
            return plain(self.settle(std::move(begins)));
          },
          "begins"_a, "(cost, begins) after moving each break between its neighbours to its best place.");
  module.def(
      "best_splits",
      [](const Vector& bytes, const Matrix& seconds, const Vector& weights, const Limits& limits) {
        if (seconds.shape(1) != bytes.shape(0)) throw std::invalid_argument("each row of seconds needs all sizes");
        std::vector<std::size_t> begins;
        for (std::size_t row = 0; row < seconds.shape(0); ++row) {
          const std::span<const double> replicate{seconds.data() + row * seconds.shape(1), seconds.shape(1)};
          begins.push_back(chiplog::analysis::best_split(view(bytes), replicate, view(weights), limits).begin);
        }
        return begins;
      },
      "bytes"_a, "seconds"_a, "weights"_a, "limits"_a,
      "For each row of seconds, where the second of the best two lines begins; 0 where the limits allow no split.");
}
