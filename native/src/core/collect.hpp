// Brings the times of other ranks to rank 0. All ranks call these functions at the same time.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "chiplog/bootstrap.hpp"
#include "core/pattern.hpp"
#include "core/samples.hpp"

namespace chiplog {

// Encodes numbers for the bootstrap. Throws Corrupt if there are not `count` of them.
[[nodiscard]] std::string pack(const std::vector<double>& numbers);
[[nodiscard]] std::vector<double> unpack(const std::string& blob, std::size_t count);

// Appends the latest `rounds` samples of each series that rank 1 times to rank 0's.
void collect_from_server(Bootstrap& bootstrap, std::span<const SeriesSetup> setups, std::int64_t rounds,
                         std::span<SeriesSamples> samples);

// Of k pairs, rank 0 keeps the time of the slowest, for each of the latest `rounds` samples.
void collect_from_pairs(Bootstrap& bootstrap, std::span<const SeriesSetup> setups, std::int64_t rounds,
                        std::span<SeriesSamples> samples);

}  // namespace chiplog
