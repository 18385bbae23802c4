// A rank's clock against that of rank 0: a straight line through offsets that were measured over some time.
//
// Source: S. Hunold, A. Carpen-Amarie, "Hierarchical clock synchronization in MPI", IEEE Cluster 2018 (the HCA family).
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

namespace chiplog::bench {

// At local time `local_ns` the global clock was `offset_ns` ahead.
struct OffsetPoint {
  double local_ns = 0;
  double offset_ns = 0;
};

struct ClockModel {
  double at_ns = 0;  // local time at which the offset is `offset_ns`
  double offset_ns = 0;
  double drift = 0;        // ns of offset a ns of local time; 0 where it can't be told from 0
  double residual_ns = 0;  // root mean square of the points about the line

  [[nodiscard]] double global_ns(double local_ns) const { return local_ns + offset_ns + drift * (local_ns - at_ns); }
};

// Least squares. A drift within `errors` standard errors of 0 is left out: it would only carry noise into the future.
inline ClockModel fit_clock(const std::vector<OffsetPoint>& points, double errors = 3.0) {
  ClockModel model;
  if (points.empty()) return model;
  const auto count = static_cast<double>(points.size());
  for (const OffsetPoint& point : points) {
    model.at_ns += point.local_ns / count;
    model.offset_ns += point.offset_ns / count;
  }
  double squares = 0;
  double products = 0;
  for (const OffsetPoint& point : points) {
    const double dx = point.local_ns - model.at_ns;
    squares += dx * dx;
    products += dx * (point.offset_ns - model.offset_ns);
  }
  const double slope = squares > 0 ? products / squares : 0;
  const auto sum_about = [&](double drift) {
    double sum = 0;
    for (const OffsetPoint& point : points) {
      const double off = point.offset_ns - model.offset_ns - drift * (point.local_ns - model.at_ns);
      sum += off * off;
    }
    return sum;
  };
  const double freedom = std::max(1.0, count - 2);
  const double error = squares > 0 ? std::sqrt(sum_about(slope) / freedom / squares) : 0;
  if (points.size() > 2 && std::abs(slope) > errors * error) model.drift = slope;
  model.residual_ns = std::sqrt(sum_about(model.drift) / freedom);
  return model;
}

}  // namespace chiplog::bench
