// The parts of `parse_parameters`.
#pragma once

#include <string>

#include "transports/sim/parameters.hpp"

namespace chiplog::sim {

// Returns the duration, or throws UsageError if virtual time could overflow with it.
double checked_duration(double duration_ns, const std::string& what);

// Takes `noise`, `noise-kind`, `outliers`, `drift` and `states`.
Disturbances parse_disturbances(Options& options);

// Takes slow ranks and slow pairs, of this many ranks.
std::vector<Slow> parse_slow(Options& options, int ranks);

// Takes `lop` and `lop-overhead`; `parameters.ranks` is known already.
void parse_lop(Options& options, Parameters& parameters);

// Takes the parameters of the first protocol and every `change`.
void parse_protocols(Options& options, Parameters& parameters);

}  // namespace chiplog::sim
