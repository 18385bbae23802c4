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
// Beyond this much memory pages come as messages need them.
constexpr std::size_t max_populated_bytes = std::size_t{256} << 20U;

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
    : bootstrap_(&bootstrap), options_(options) {
  const auto size = static_cast<std::size_t>(bootstrap.size());
  const auto self = static_cast<std::size_t>(bootstrap.rank());
  const std::size_t channel_bytes = shm::channel_bytes(options.ring_bytes);
  const std::size_t bytes = size * size * channel_bytes;
  memory_ = shm::share_memory(bootstrap, bytes);
  watch_ = std::make_unique<Watch>([memory = memory_.get()](Rank peer) { return memory->lives(peer); },
                                   WaitPolicy::make(LookCost::memory, ranks_are_crowded(bootstrap), time_limit));
  const auto channel = [&](std::size_t from, std::size_t to) -> shm::Channel& {
    std::byte* begin = memory_->data() + (from * size + to) * channel_bytes;
    if (from != to && bytes <= max_populated_bytes) NodeMemory::populate(begin, channel_bytes);
    return *reinterpret_cast<shm::Channel*>(begin);
  };
  for (std::size_t peer = 0; peer < size; ++peer) {
    const auto rank = static_cast<Rank>(peer);
    senders_.emplace_back(channel(self, peer), options.ring_bytes, rank, *watch_);
    receivers_.emplace_back(channel(peer, self), options.ring_bytes, rank, *watch_);
  }
}

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
