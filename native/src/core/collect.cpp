#include "core/collect.hpp"

#include <algorithm>
#include <cstring>

#include "chiplog/error.hpp"

namespace chiplog {

std::string pack(const std::vector<double>& numbers) {
  std::string blob(numbers.size() * sizeof(double), '\0');
  if (!numbers.empty()) std::memcpy(blob.data(), numbers.data(), blob.size());
  return blob;
}

std::vector<double> unpack(const std::string& blob, std::size_t count) {
  if (blob.size() != count * sizeof(double)) throw Corrupt("numbers from another rank arrived damaged");
  std::vector<double> numbers(count);
  if (count > 0) std::memcpy(numbers.data(), blob.data(), blob.size());
  return numbers;
}

namespace {

// The latest samples of each pair, which its client keeps at the same index among its own.
void append_each_pair(const SeriesSetup& setup, const std::vector<std::vector<double>>& of_ranks, std::ptrdiff_t place,
                      std::int64_t rounds, std::vector<std::vector<double>>& by_pair_ns) {
  const std::vector<Link> links = setup.pattern->links(setup);
  by_pair_ns.resize(links.size());
  for (std::size_t pair = 0; pair < links.size(); ++pair) {
    const auto begin = of_ranks[static_cast<std::size_t>(links[pair].client)].begin() + place;
    by_pair_ns[pair].insert(by_pair_ns[pair].end(), begin, begin + rounds);
  }
}

}  // namespace

void collect_from_pairs(Bootstrap& bootstrap, std::span<const SeriesSetup> setups, std::int64_t rounds,
                        std::span<SeriesSamples> samples) {
  const Rank rank = bootstrap.rank();
  const auto length = static_cast<std::size_t>(rounds);
  std::vector<double> latest;
  for (std::size_t i = 0; i < setups.size(); ++i) {
    if (!setups[i].pattern->several_clients) continue;
    const bool timed_here = setups[i].pattern->position(setups[i], rank).role == Role::client;
    latest.resize(latest.size() + length, 0.0);
    if (timed_here)
      std::copy(samples[i].durations_ns.end() - rounds, samples[i].durations_ns.end(), latest.end() - rounds);
    // Rank 0 keeps all samples, also those of pairs to which it does not belong.
    if (rank == 0 && !timed_here) samples[i].durations_ns.resize(samples[i].durations_ns.size() + length);
  }
  if (latest.empty()) return;
  std::vector<std::vector<double>> all;
  for (const std::string& one : bootstrap.gather(pack(latest))) all.push_back(unpack(one, latest.size()));
  if (rank != 0) return;
  for (const std::vector<double>& theirs : all) {
    std::transform(latest.begin(), latest.end(), theirs.begin(), latest.begin(),
                   [](double ours, double other) { return std::max(ours, other); });
  }
  auto from = latest.begin();
  for (std::size_t i = 0; i < setups.size(); ++i) {
    if (!setups[i].pattern->several_clients) continue;
    std::copy(from, from + rounds, samples[i].durations_ns.end() - rounds);
    if (setups[i].pattern->records_each_pair) {
      append_each_pair(setups[i], all, from - latest.begin(), rounds, samples[i].by_pair_ns);
    }
    from += rounds;
  }
}

void collect_from_server(Bootstrap& bootstrap, std::span<const SeriesSetup> setups, std::int64_t rounds,
                         std::span<SeriesSamples> samples) {
  const Rank rank = bootstrap.rank();
  const auto by_server = [](const SeriesSetup& setup) { return setup.pattern->timed_by == Role::server; };
  const auto count = static_cast<std::size_t>(std::count_if(setups.begin(), setups.end(), by_server));
  if (count == 0) return;
  const auto length = static_cast<std::ptrdiff_t>(rounds);
  std::vector<double> latest;
  for (std::size_t i = 0; rank == 1 && i < setups.size(); ++i) {
    if (by_server(setups[i]))
      latest.insert(latest.end(), samples[i].durations_ns.end() - length, samples[i].durations_ns.end());
  }
  const std::vector<std::string> all = bootstrap.gather(pack(latest));
  if (rank != 0) return;
  latest = unpack(all[1], count * static_cast<std::size_t>(rounds));
  auto next = latest.begin();
  for (std::size_t i = 0; i < setups.size(); ++i) {
    if (!by_server(setups[i])) continue;
    samples[i].durations_ns.insert(samples[i].durations_ns.end(), next, next + length);
    next += length;
  }
}

}  // namespace chiplog
