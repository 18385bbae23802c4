#include "transports/cma/cma.hpp"

#include <unistd.h>

#include "chiplog/error.hpp"
#include "core/failures.hpp"
#include "core/json_object.hpp"
#include "patterns/make_endpoint.hpp"
#include "transports/registry.hpp"

namespace chiplog {
namespace {

constexpr std::size_t max_eager_bytes = std::size_t{1} << 30U;

// What a rank tells the others: its process, and where in it which word is.
struct Introduction {
  std::int64_t process = 0;
  cma::Address address = 0;
  std::uint64_t word = 0;
};

std::string to_blob(const Introduction& own) { return {reinterpret_cast<const char*>(&own), sizeof own}; }

Introduction from_blob(const std::string& blob) {
  Introduction there;
  if (blob.size() != sizeof there) throw Corrupt("what a rank tells of its process arrived damaged");
  std::memcpy(&there, blob.data(), sizeof there);
  return there;
}

// Why this rank can't read the word of that process, or nothing.
std::string trial(const cma::Process& process, const Introduction& there) {
  std::uint64_t word = 0;
  try {
    cma::read(process, there.address, reinterpret_cast<std::byte*>(&word), sizeof word);
  } catch (const PeerLost&) {
    return name_of(process.rank) + " is not in the PID namespace of this rank";
  } catch (const Error& error) {
    return error.what();
  }
  return word == there.word ? "" : name_of(process.rank) + " is not in the PID namespace of this rank";
}

// The processes of all ranks, each of which has read a word of every other one.
std::vector<cma::Process> meet(Bootstrap& bootstrap) {
  const std::uint64_t word = 0x6368'6970'6c6f'6700U + static_cast<std::uint64_t>(bootstrap.rank());
  const Introduction own{getpid(), reinterpret_cast<cma::Address>(&word), word};
  std::vector<cma::Process> processes;
  std::string failure;
  for (const std::string& blob : bootstrap.all_gather(to_blob(own))) {
    const Introduction there = from_blob(blob);
    processes.push_back({static_cast<Rank>(processes.size()), static_cast<pid_t>(there.process)});
    if (processes.back().rank != bootstrap.rank() && failure.empty()) failure = trial(processes.back(), there);
  }
  for (const std::string& reason : bootstrap.all_gather(failure)) {
    if (!reason.empty()) throw Error(ExitCode::run_failed, "cma can't be used: " + reason);
  }
  return processes;
}

std::unique_ptr<Endpoint> make_cma_endpoint(Bootstrap& bootstrap, Options& given, const RunSettings& settings) {
  CmaOptions options;
  options.eager_bytes = given.bytes("eager", options.eager_bytes);
  if (options.eager_bytes > max_eager_bytes) throw UsageError(given.named("eager") + " accepts 0 to 1GiB");
  given.refuse_unknown();
  return make_endpoint(bootstrap, settings.time_limit,
                       [&] { return CmaTransport(bootstrap, options, settings.time_limit); });
}

Availability look_for_cma() {
  const cma::Finding found = cma::what_forbids();
  return {.usable = found.why.empty(), .why = found.why, .remedy = found.remedy};
}

}  // namespace

// The channels are made by all ranks together, so that all have consented when they meet.
CmaTransport::CmaTransport(Bootstrap& bootstrap, const CmaOptions& options, std::chrono::nanoseconds time_limit)
    : bootstrap_(&bootstrap),
      options_(options),
      channels_(bootstrap, shm::default_ring_bytes, time_limit),
      processes_(meet(bootstrap)),
      announced_to_(bootstrap.size()) {}

std::string CmaTransport::options_json() const {
  return JsonObject()
      .add("eager_bytes", options_.eager_bytes)
      .add("ring_bytes", shm::default_ring_bytes)
      .add("inline_bytes", shm::inline_bytes)
      .text();
}

constinit const TransportEntry cma_transport{
    .name = "cma",
    .summary = "cross-memory attach between ranks of one host: long messages are copied once, by the kernel",
    .options = "eager=BYTES",
    .capabilities = CmaTransport::declared_capabilities,
    .ranks = OneProcessARank{.make_endpoint = make_cma_endpoint},
    .availability = look_for_cma,
};

}  // namespace chiplog
