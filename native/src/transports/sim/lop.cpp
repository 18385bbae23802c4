#include "transports/sim/lop.hpp"

#include <cmath>

namespace chiplog::sim {

double LoP::round_trip_ns(double peers) const {
  return peers * (C_ns + l1_ns / (l2 + peers) - A_ns * std::exp(-peers / tau));
}

double LoP::one_way_ns(double messages) const { return round_trip_ns(messages) - round_trip_ns(1.0) / 2.0; }

}  // namespace chiplog::sim
