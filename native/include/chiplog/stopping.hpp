// Decides when a record has enough samples. The object only receives numbers: it knows no clock and no budget.
#pragma once

#include <cstddef>
#include <vector>

namespace chiplog {

// The 95 % interval of a median from order statistics, which assumes nothing about the distribution.
struct MedianInterval {
  double low = 0.0;
  double median = 0.0;
  double high = 0.0;
};

// `samples` is partly reordered. Fewer than 6 samples have no such interval: low and high are infinite. NaN counts as
// larger than everything.
[[nodiscard]] MedianInterval median_interval(std::vector<double>& samples);

// The lower of the two order statistics (counted from 0) that enclose the median with >= 95 % probability; the upper
// one is as far from the other end. `count` itself if there is none.
[[nodiscard]] std::size_t lower_order_statistic(std::size_t count);

enum class Stop { go_on, precision, samples };

class StoppingRule {
 public:
  struct Settings {
    double relative_half_width = 0.05;
    std::size_t min_samples = 10;
    std::size_t max_samples = 1000;
    // No interval counts as narrower than one step of the clock, since equal readings prove no more than that.
    double resolution = 0.0;
  };
  struct Verdict {
    Stop stop = Stop::go_on;
    // Half the widest interval over its median; infinite where there is none (too few samples, a median of 0).
    double relative_half_width = 0.0;
  };

  StoppingRule(const Settings& settings, std::size_t series_count);

  void add(std::size_t series, double sample) { samples_[series].push_back(sample); }
  // For all series together: the rule holds when it holds for the widest. Linear in the number of samples.
  [[nodiscard]] Verdict assess();

 private:
  [[nodiscard]] double relative_half_width(std::vector<double>& samples) const;

  Settings settings_;
  std::vector<std::vector<double>> samples_;
};

}  // namespace chiplog
