#include "transports/ofi/ofi.hpp"

#include <rdma/fi_atomic.h>

#include <algorithm>

#include "chiplog/error.hpp"
#include "patterns/make_endpoint.hpp"
#include "transports/registry.hpp"

namespace chiplog {
namespace {

// What a dead peer's kernel still delivers takes some milliseconds.
constexpr std::chrono::milliseconds grace{30};

std::unique_ptr<Endpoint> make_ofi_endpoint(Bootstrap& bootstrap, Options& given, const RunSettings& settings) {
  OfiOptions options;
  options.provider = given.text("provider", options.provider);
  options.domain = given.text("domain", options.domain);
  given.refuse_unknown();
  return make_endpoint(bootstrap, settings.time_limit,
                       [&] { return OfiTransport(bootstrap, options, settings.time_limit); });
}

// Connecting takes longer than any message.
constexpr std::chrono::nanoseconds least_to_connect = std::chrono::seconds(10);

Capabilities capabilities_of(const ofi::Endpoint& endpoint) {
  Capabilities capabilities = ofi::capabilities_of(endpoint.info());
  std::size_t count = 0;
  capabilities.atomics = capabilities.atomics && fi_fetch_atomicvalid(endpoint.get(), FI_UINT64, FI_SUM, &count) == 0 &&
                         fi_compare_atomicvalid(endpoint.get(), FI_UINT64, FI_CSWAP, &count) == 0;
  return capabilities;
}

}  // namespace

OfiTransport::OfiTransport(Bootstrap& bootstrap, const OfiOptions& options, std::chrono::nanoseconds time_limit)
    : bootstrap_(&bootstrap),
      liveness_(std::make_unique<NodeLiveness>(bootstrap)),
      watch_([liveness = liveness_.get()](Rank peer) { return liveness->lives(peer); },
             WaitPolicy::make(LookCost::library, ranks_are_crowded(bootstrap), std::max(time_limit, least_to_connect)),
             grace),
      endpoint_(bootstrap, options, slot_count),
      caller_{endpoint_.get(), static_cast<std::uint64_t>(bootstrap.rank())},
      inject_bytes_(endpoint_.info().tx_attr->inject_size),
      capabilities_(capabilities_of(endpoint_)),
      completions_(endpoint_.transmits(), endpoint_.receives(), bootstrap.size()),
      slots_(slot_count),
      operands_(endpoint_.make_buffer(slot_count * operand_bytes)),
      overflow_(ofi::is_shm(endpoint_.info()) ? capabilities_.max_message_bytes : 0),
      held_payload_(max_inline_bytes()) {
  struct Hide {
    const ofi::Endpoint& endpoint;
    ~Hide() { endpoint.hide(); }
  } const hide{endpoint_};
  greet_all(bootstrap);
  watch_.set_time_limit(time_limit);
}

// Providers connect with the first message; and only then does each rank know what another one's name stands for.
void OfiTransport::greet_all(Bootstrap& bootstrap) {
  Buffer buffer = make_buffer(1);
  const int size = bootstrap.size();
  for (int step = 1; step < size; ++step) send((bootstrap.rank() + step) % size, buffer, 0);
  for (int step = 1; step < size; ++step) recv((bootstrap.rank() + size - step) % size, buffer, 0);
  bootstrap.barrier();
}

OfiTransport::Window OfiTransport::make_window(std::size_t bytes) {
  if (!capabilities_.remote_write) {
    throw UsageError("the provider " + std::string(endpoint_.info().fabric_attr->prov_name) +
                     " of ofi has no one-sided operations that land in order");
  }
  return endpoint_.make_window(*bootstrap_, bytes);
}

void OfiTransport::hold(ofi::Operation operation) {
  if (holds_) hand_over(FI_MORE);
  held_ = operation;
  holds_ = true;
  held_inline_ = operation.slot == nullptr;
  if (!held_inline_) return;
  std::memcpy(held_payload_.data(), operation.local, operation.bytes);
  held_.local = held_payload_.data();
  held_.slot = take_slot(operation.peer);
}

void OfiTransport::hand_over(std::uint64_t flags) {
  holds_ = false;
  if (held_inline_) flags |= FI_INJECT;
  submit(held_.peer, [&] { return ofi::start_listed(caller_, endpoint_.address_of(held_.peer), held_, flags); });
}

void OfiTransport::end_list() {
  listing_ = false;
  if (holds_) hand_over(0);
}

void OfiTransport::fail(int code, Rank peer) {
  failed_ = true;
  ofi::throw_failure(code, "libfabric refuses an operation with " + name_of(peer));
}

void OfiTransport::throw_failed() {
  throw Error(ExitCode::run_failed, "nothing more goes through libfabric after an error");
}

namespace {

Availability look_for_ofi() {
  Availability here{.usable = true, .why = "libfabric " + ofi::library_version()};
  for (const std::string& provider : ofi::providers_here()) here.choices.push_back("provider=" + provider);
  if (here.choices.empty()) return {.usable = false, .why = here.why + " has no provider of reliable datagrams here"};
  return here;
}

}  // namespace

constinit const TransportEntry ofi_transport{
    .name = "ofi",
    .summary = "libfabric: messages and one-sided operations over its providers (verbs, EFA, CXI, tcp, shm, ...)",
    .options = "provider=NAME,domain=NAME",
    .capabilities = OfiTransport::declared_capabilities,
    .ranks = OneProcessARank{.make_endpoint = make_ofi_endpoint},
    .availability = look_for_ofi,
    .remedy = "apt-get install libfabric1, or dnf install libfabric",
};

}  // namespace chiplog
