// LoP's curve as a network's ground truth.
#pragma once

namespace chiplog::sim {

// RTT(p)/p = C + l1/(l2 + p) - A exp(-p/tau): the curve says when everything is back, not what happens on the way.
struct LoP {
  double C_ns = 0.0;
  double l1_ns = 0.0;
  double l2 = 0.0;
  double A_ns = 0.0;
  double tau = 1.0;

  [[nodiscard]] double round_trip_ns(double peers) const;
  // From the first post to the arrival of all p messages; an answer, a message of its own, takes one_way_ns(1).
  [[nodiscard]] double one_way_ns(double messages) const;
};

}  // namespace chiplog::sim
