// Exact least-squares segmentation of times over message sizes into lines T(s) = a + b*s with a, b >= 0.
#pragma once

#include <cstddef>
#include <limits>
#include <span>
#include <vector>

namespace chiplog::analysis {

// Intercept in seconds at size 0, slope in seconds per byte.
struct Line {
  double intercept_seconds = 0.0;
  double slope_seconds_per_byte = 0.0;

  [[nodiscard]] double operator()(double bytes) const { return intercept_seconds + slope_seconds_per_byte * bytes; }
};

// The least that a segment must cover: at least `min_bytes` from its first size to its last, both included, and either
// `min_points` sizes over a factor `min_factor` or, where sizes are sparse, `min_points_sparse` over
// `min_factor_sparse`.
struct Limits {
  double min_bytes = 64.0;
  std::size_t min_points = 5;
  double min_factor = 1.5;
  std::size_t min_points_sparse = 3;
  double min_factor_sparse = 4.0;
};

struct Segmentation {
  double cost = 0.0;                // sum of weight * (T - line)^2
  std::vector<std::size_t> begins;  // index of the first size of each segment; begins[0] == 0
};

// Finds the best place to split one series into two lines.
struct Split {
  std::size_t begin = 0;  // of the second part; 0 where the limits allow no split
  double cost = 0.0;      // of both parts; of the one line where there is no split
};

// Takes O(N) steps, so that it can run for each bootstrap replicate. Throws like Segmenter's constructor.
[[nodiscard]] Split best_split(std::span<const double> bytes, std::span<const double> seconds,
                               std::span<const double> weights, Limits limits = {});

// All segment costs of one series, and the optimal segmentations into any number of segments.
// Immutable once constructed, so any thread may call it. Costs O(N^2) time and memory.
class Segmenter {
 public:
  // A size adds at most `cap` to a cost, however far it lies from the line, so that one outlier moves no line.
  // Throws std::invalid_argument unless `bytes` ascends strictly from a positive size, all is finite, every weight and
  // the cap are positive and the three spans are equally long and not empty.
  Segmenter(std::span<const double> bytes, std::span<const double> seconds, std::span<const double> weights,
            Limits limits = {}, double cap = std::numeric_limits<double>::infinity());

  [[nodiscard]] std::size_t size() const { return bytes_.size(); }
  // Whether sizes [begin, end) are long enough to be a segment of their own.
  [[nodiscard]] bool admissible(std::size_t begin, std::size_t end) const;
  // For sizes [begin, end) with 0 <= begin < end <= size(), admissible or not.
  [[nodiscard]] double cost(std::size_t begin, std::size_t end) const;
  [[nodiscard]] Line line(std::size_t begin, std::size_t end) const;
  // Entry k-1 has k segments; ends early where the limits allow no more. A series too short for one admissible segment
  // is one segment all the same.
  [[nodiscard]] std::vector<Segmentation> solve(std::size_t max_segments) const;
  // Moves each break between its neighbours to its best place until none moves; `begins` as in Segmentation.
  [[nodiscard]] Segmentation settle(std::vector<std::size_t> begins) const;

 private:
  [[nodiscard]] std::size_t index(std::size_t begin, std::size_t end) const;
  void fill_least_squares(std::size_t begin);
  void fill_capped(std::size_t begin);
  [[nodiscard]] double capped_cost(std::size_t begin, std::size_t end, const Line& line) const;
  [[nodiscard]] Line through_two(std::size_t first, std::size_t second) const;
  [[nodiscard]] Line through_near(std::size_t begin, std::size_t end, const Line& line, double cap) const;

  std::vector<double> bytes_;
  std::vector<double> seconds_;
  std::vector<double> weights_;
  Limits limits_;
  double cap_ = 0.0;
  std::vector<double> costs_;              // triangle by rows of `begin`
  std::vector<Line> lines_;                // likewise; empty where costs have no cap
  std::vector<std::size_t> earliest_end_;  // by begin; size() + 1 where no segment that begins there is admissible
};

}  // namespace chiplog::analysis
