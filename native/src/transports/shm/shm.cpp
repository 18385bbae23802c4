#include "transports/shm/shm.hpp"

#include <bit>

#include "chiplog/error.hpp"
#include "core/json_object.hpp"
#include "patterns/make_endpoint.hpp"
#include "transports/registry.hpp"

namespace chiplog {
namespace {

constexpr std::size_t min_ring_bytes = std::size_t{64} << 10U;
constexpr std::size_t max_ring_bytes = std::size_t{1} << 30U;

std::unique_ptr<Endpoint> make_shm_endpoint(Bootstrap& bootstrap, Options& given, const RunSettings& settings) {
  ShmOptions options;
  options.ring_bytes = given.bytes("ring", options.ring_bytes);
  if (options.ring_bytes < min_ring_bytes || options.ring_bytes > max_ring_bytes ||
      !std::has_single_bit(options.ring_bytes)) {
    throw UsageError(given.named("ring") + " accepts a power of two from 64KiB to 1GiB");
  }
  given.refuse_unknown();
  return make_endpoint(bootstrap, settings.time_limit,
                       [&] { return ShmTransport(bootstrap, options, settings.time_limit); });
}

}  // namespace

ShmTransport::ShmTransport(Bootstrap& bootstrap, const ShmOptions& options, std::chrono::nanoseconds time_limit)
    : bootstrap_(&bootstrap), options_(options), channels_(bootstrap, options.ring_bytes, time_limit) {}

std::string ShmTransport::options_json() const {
  return JsonObject()
      .add("ring_bytes", options_.ring_bytes)
      .add("chunk_bytes", shm::chunk_bytes_of(options_.ring_bytes))
      .add("inline_bytes", shm::inline_bytes)
      .text();
}

constinit const TransportEntry shm_transport{
    .name = "shm",
    .summary = "shared memory between ranks of one host: cache-line flags and a bounded ring",
    .options = "ring=BYTES",
    .capabilities = ShmTransport::declared_capabilities,
    .ranks = OneProcessARank{.make_endpoint = make_shm_endpoint},
};

}  // namespace chiplog
