#include "analysis/segmentation.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

namespace chiplog::analysis {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
// Costs that differ by less than this share are equal: an outlier beside a break may belong to either side.
constexpr double tie = 1e-9;

// Weighted moments about the running mean. Adding one size after the other, instead of subtracting prefix sums, keeps
// all digits although 1/T^2 spans twelve decades between 1 B and 64 MiB.
class Moments {
 public:
  void add(double x, double y, double weight) {
    weight_ += weight;
    const double dx = x - mean_x_;
    const double dy = y - mean_y_;
    const double share = weight / weight_;
    mean_x_ += share * dx;
    mean_y_ += share * dy;
    const double rest_y = y - mean_y_;
    xx_ += weight * dx * (x - mean_x_);
    xy_ += weight * dx * rest_y;
    yy_ += weight * dy * rest_y;
  }

  // Minimises the cost over intercept, slope >= 0. The problem is convex, so the result is the unconstrained minimum if
  // that is admissible, else the better of the two edges.
  [[nodiscard]] Line best() const {
    const double slope = xx_ > 0.0 ? xy_ / xx_ : 0.0;
    const Line free{mean_y_ - slope * mean_x_, slope};
    if (free.intercept_seconds >= 0.0 && free.slope_seconds_per_byte >= 0.0) return free;
    const double origin_xx = xx_ + weight_ * mean_x_ * mean_x_;
    const double origin_xy = xy_ + weight_ * mean_x_ * mean_y_;
    const Line proportional{0.0, std::max(0.0, origin_xy / origin_xx)};
    const Line constant{std::max(0.0, mean_y_), 0.0};
    return cost(proportional) <= cost(constant) ? proportional : constant;
  }

  [[nodiscard]] double cost(const Line& line) const {
    const double slope = line.slope_seconds_per_byte;
    const double offset = mean_y_ - line(mean_x_);
    return std::max(0.0, yy_ - 2.0 * slope * xy_ + slope * slope * xx_ + weight_ * offset * offset);
  }

 private:
  double weight_ = 0.0;
  double mean_x_ = 0.0;
  double mean_y_ = 0.0;
  double xx_ = 0.0;
  double xy_ = 0.0;
  double yy_ = 0.0;
};

void check(std::span<const double> bytes, std::span<const double> seconds, std::span<const double> weights) {
  if (bytes.empty()) throw std::invalid_argument("a series needs at least one size");
  if (bytes.size() != seconds.size() || bytes.size() != weights.size())
    throw std::invalid_argument("sizes, seconds and weights must be equally long");
  double previous = 0.0;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    if (!std::isfinite(bytes[i]) || bytes[i] <= previous)
      throw std::invalid_argument("sizes must be positive and ascend strictly");
    if (!std::isfinite(seconds[i])) throw std::invalid_argument("seconds must be finite");
    if (!std::isfinite(weights[i]) || weights[i] <= 0.0)
      throw std::invalid_argument("weights must be finite and positive");
    previous = bytes[i];
  }
}

bool long_enough(std::span<const double> bytes, const Limits& limits) {
  const std::size_t points = bytes.size();
  const double factor = bytes.back() / bytes.front();
  if (bytes.back() - bytes.front() + 1.0 < limits.min_bytes) return false;
  return (points >= limits.min_points && factor >= limits.min_factor) ||
         (points >= limits.min_points_sparse && factor >= limits.min_factor_sparse);
}

// bytes.size() + 1 if no end is admissible. Longer segments are admissible, too.
std::size_t first_admissible_end(std::span<const double> bytes, std::size_t begin, const Limits& limits) {
  std::size_t end = begin + 1;
  while (end <= bytes.size() && !long_enough(bytes.subspan(begin, end - begin), limits)) ++end;
  return end;
}

}  // namespace

Split best_split(std::span<const double> bytes, std::span<const double> seconds, std::span<const double> weights,
                 Limits limits) {
  check(bytes, seconds, weights);
  const std::size_t n = bytes.size();
  std::vector<double> costs_before(n + 1, 0.0);  // of sizes [0, i)
  Moments before;
  for (std::size_t i = 0; i < n; ++i) {
    before.add(bytes[i], seconds[i], weights[i]);
    costs_before[i + 1] = before.cost(before.best());
  }
  Split best{0, infinity};
  Moments after;
  for (std::size_t begin = n - 1; begin > 0; --begin) {
    after.add(bytes[begin], seconds[begin], weights[begin]);
    if (!long_enough(bytes.subspan(begin), limits) || !long_enough(bytes.first(begin), limits)) continue;
    const double cost = costs_before[begin] + after.cost(after.best());
    if (cost < best.cost) best = {begin, cost};
  }
  return best.begin == 0 ? Split{0, costs_before[n]} : best;
}

Segmenter::Segmenter(std::span<const double> bytes, std::span<const double> seconds, std::span<const double> weights,
                     Limits limits, double cap)
    : limits_(limits), cap_(cap) {
  check(bytes, seconds, weights);
  if (!(cap > 0.0)) throw std::invalid_argument("the cap must be positive");
  bytes_.assign(bytes.begin(), bytes.end());
  seconds_.assign(seconds.begin(), seconds.end());
  weights_.assign(weights.begin(), weights.end());
  const std::size_t n = size();
  costs_.resize(n * (n + 1) / 2);
  if (cap_ < infinity) lines_.resize(costs_.size());
  earliest_end_.resize(n);
  for (std::size_t begin = 0; begin < n; ++begin) {
    if (cap_ < infinity)
      fill_capped(begin);
    else
      fill_least_squares(begin);
    earliest_end_[begin] = first_admissible_end(bytes_, begin, limits_);
  }
}

void Segmenter::fill_least_squares(std::size_t begin) {
  Moments moments;
  double* row = &costs_[index(begin, begin + 1)];
  for (std::size_t last = begin; last < size(); ++last) {
    moments.add(bytes_[last], seconds_[last], weights_[last]);
    row[last - begin] = moments.cost(moments.best());
  }
}

// Long segments are searched anew only when they have grown by this share, since a few more sizes hardly move a line.
constexpr double search_growth = 0.05;

// The capped cost has several minima. Each longer segment tries the line of the shorter one, the least-squares line,
// and those through its last size and two of the others, and goes down from each.
void Segmenter::fill_capped(std::size_t begin) {
  Moments all;
  Line kept;
  double lowest = 0.0;
  std::size_t next_search = 1;
  for (std::size_t last = begin; last < size(); ++last) {
    const std::size_t end = last + 1;
    all.add(bytes_[last], seconds_[last], weights_[last]);
    const double off = seconds_[last] - kept(bytes_[last]);
    lowest += std::min(weights_[last] * off * off, cap_);
    if (end - begin >= next_search || end == size()) {
      next_search = end - begin + 1 + static_cast<std::size_t>(search_growth * static_cast<double>(end - begin));
      const Line through_last = through_two(last, begin + (last - begin) / 2);
      const Line through_neighbours = through_two(last, last == begin ? last : last - 1);
      for (Line line : {kept, all.best(), through_last, through_neighbours}) {
        for (const double wider : {16.0, 4.0, 1.0, 1.0, 1.0}) line = through_near(begin, end, line, wider * cap_);
        const double cost = capped_cost(begin, end, line);
        if (cost >= lowest) continue;
        lowest = cost;
        kept = line;
      }
    }
    costs_[index(begin, end)] = lowest;
    lines_[index(begin, end)] = kept;
  }
}

Line Segmenter::through_two(std::size_t first, std::size_t second) const {
  Moments two;
  two.add(bytes_[first], seconds_[first], weights_[first]);
  if (second != first) two.add(bytes_[second], seconds_[second], weights_[second]);
  return two.best();
}

double Segmenter::capped_cost(std::size_t begin, std::size_t end, const Line& line) const {
  double total = 0.0;
  for (std::size_t i = begin; i < end; ++i) {
    const double off = seconds_[i] - line(bytes_[i]);
    total += std::min(weights_[i] * off * off, cap_);
  }
  return total;
}

// The least-squares line through the sizes that lie within the cap of `line`; `line` itself where that are none.
Line Segmenter::through_near(std::size_t begin, std::size_t end, const Line& line, double cap) const {
  Moments near;
  bool any = false;
  for (std::size_t i = begin; i < end; ++i) {
    const double off = seconds_[i] - line(bytes_[i]);
    if (weights_[i] * off * off > cap) continue;
    near.add(bytes_[i], seconds_[i], weights_[i]);
    any = true;
  }
  return any ? near.best() : line;
}

std::size_t Segmenter::index(std::size_t begin, std::size_t end) const {
  return begin * size() - begin * (begin + 1) / 2 + end - 1;
}

bool Segmenter::admissible(std::size_t begin, std::size_t end) const { return end >= earliest_end_[begin]; }

double Segmenter::cost(std::size_t begin, std::size_t end) const { return costs_[index(begin, end)]; }

Line Segmenter::line(std::size_t begin, std::size_t end) const {
  if (!lines_.empty()) return lines_[index(begin, end)];
  Moments moments;
  for (std::size_t i = begin; i < end; ++i) moments.add(bytes_[i], seconds_[i], weights_[i]);
  return moments.best();
}

std::vector<Segmentation> Segmenter::solve(std::size_t max_segments) const {
  const std::size_t n = size();
  std::vector<Segmentation> solutions;
  if (max_segments == 0) return solutions;
  solutions.push_back({cost(0, n), {0}});

  // best[e] is the lowest cost of sizes [0, e) in k segments; from[k][e] is where the last of them begins.
  std::vector<double> best(n + 1, infinity);
  for (std::size_t end = earliest_end_[0]; end <= n; ++end) best[end] = cost(0, end);
  std::vector<std::vector<std::size_t>> from(2);
  for (std::size_t segments = 2; segments <= max_segments; ++segments) {
    std::vector<double> next(n + 1, infinity);
    std::vector<std::size_t> begins(n + 1, 0);
    for (std::size_t begin = 1; begin < n; ++begin) {
      if (best[begin] == infinity) continue;
      for (std::size_t end = earliest_end_[begin]; end <= n; ++end) {
        const double candidate = best[begin] + costs_[index(begin, end)];
        if (candidate < next[end] - tie * candidate) {
          next[end] = candidate;
          begins[end] = begin;
        }
      }
    }
    if (next[n] == infinity) break;
    best.swap(next);
    from.push_back(std::move(begins));
    Segmentation solution{best[n], std::vector<std::size_t>(segments, 0)};
    std::size_t end = n;
    for (std::size_t k = segments; k > 1; --k) {
      end = from[k][end];
      solution.begins[k - 1] = end;
    }
    solutions.push_back(std::move(solution));
  }
  return solutions;
}

Segmentation Segmenter::settle(std::vector<std::size_t> begins) const {
  const auto end_of = [&](std::size_t k) { return k + 1 < begins.size() ? begins[k + 1] : size(); };
  bool moved = true;
  while (moved) {
    moved = false;
    for (std::size_t k = 1; k < begins.size(); ++k) {
      const std::size_t left = begins[k - 1];
      const std::size_t right = end_of(k);
      std::size_t place = begins[k];
      double lowest = cost(left, place) + cost(place, right);
      for (std::size_t at = left + 1; at < right; ++at) {
        if (!admissible(left, at) || !admissible(at, right)) continue;
        const double candidate = cost(left, at) + cost(at, right);
        if (candidate < lowest) {
          lowest = candidate;
          place = at;
        }
      }
      moved = moved || place != begins[k];
      begins[k] = place;
    }
  }
  double total = 0.0;
  for (std::size_t k = 0; k < begins.size(); ++k) total += cost(begins[k], end_of(k));
  return {total, std::move(begins)};
}

}  // namespace chiplog::analysis
