// How thoroughly clocks are compared.
#pragma once

namespace chiplog::bench {

struct SyncOptions {
  int points = 30;
  int exchanges = 20;     // ping-pongs a point; the shortest one counts
  double span_ns = 50e6;  // over which the points of one pair are spread
};

}  // namespace chiplog::bench
