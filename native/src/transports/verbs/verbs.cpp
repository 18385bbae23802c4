#include "transports/verbs/verbs.hpp"

#include <arpa/inet.h>
#include <sched.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <sstream>
#include <type_traits>
#include <utility>

#include "chiplog/error.hpp"
#include "core/json_object.hpp"
#include "patterns/make_endpoint.hpp"
#include "transports/registry.hpp"
#include "transports/watch.hpp"

namespace chiplog {
namespace {

using verbs::QueueAddress;
using verbs::RemoteMemory;

const std::string& device_of(const VerbsOptions& options, Rank rank) {
  static const std::string any;
  if (options.devices.empty()) return any;
  return options.devices[static_cast<std::size_t>(rank) % options.devices.size()];
}

template <class Value>
std::string to_blob(const std::vector<Value>& values) {
  static_assert(std::is_trivially_copyable_v<Value>);
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(Value)};
}

template <class Value>
std::vector<Value> from_blob(const std::string& blob, std::size_t count) {
  if (blob.size() != count * sizeof(Value)) throw Corrupt("what a rank says of its verbs device arrived damaged");
  std::vector<Value> values(count);
  std::memcpy(values.data(), blob.data(), blob.size());
  return values;
}

std::string gid_text(const ibv_gid& gid) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  inet_ntop(AF_INET6, gid.raw, text.data(), text.size());
  return text.data();
}

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::istringstream rest(text);
  for (std::string part; std::getline(rest, part, separator);) {
    if (!part.empty()) parts.push_back(part);
  }
  return parts;
}

std::unique_ptr<Endpoint> make_verbs_endpoint(Bootstrap& bootstrap, Options& given, const RunSettings& settings) {
  VerbsOptions options;
  options.devices = split(given.text("device", ""), '+');
  if (given.has("gid")) options.gid_index = static_cast<int>(given.integer("gid", 0, 0, 255));
  if (given.choice("qp", "rc", {"rc", "ud"}) == "ud") options.service = verbs::Service::datagram;
  if (given.choice("wait", "poll", {"poll", "event"}) == "event") options.waiting = verbs::Waiting::event;
  options.inline_bytes = static_cast<std::uint32_t>(given.integer("inline", options.inline_bytes, 0, 4096));
  given.refuse_unknown();
  return make_endpoint(bootstrap, settings.time_limit,
                       [&] { return VerbsTransport(bootstrap, options, settings.time_limit); });
}

}  // namespace

VerbsTransport::VerbsTransport(Bootstrap& bootstrap, const VerbsOptions& options, std::chrono::nanoseconds time_limit)
    : bootstrap_(&bootstrap),
      options_(options),
      device_(verbs::open_device(device_of(options, bootstrap.rank()), options.gid_index)),
      sends_to_(bootstrap.size()),
      operations_to_(bootstrap.size()) {
  const verbs::ConnectionSettings settings{options.service, options.waiting, options.inline_bytes, time_limit,
                                           ranks_are_crowded(bootstrap)};
  inline_bytes_ = longest_message_bytes;
  for (Rank peer = 0; peer < bootstrap.size(); ++peer) {
    connections_.push_back(
        peer == bootstrap.rank() ? nullptr : std::make_unique<verbs::Connection>(device_, peer, settings, listing_));
    if (connections_.back()) inline_bytes_ = std::min(inline_bytes_, connections_.back()->max_inline_bytes());
  }
  connect_all();
}

void VerbsTransport::connect_all() {
  std::vector<QueueAddress> own(connections_.size());
  for (std::size_t peer = 0; peer < own.size(); ++peer) {
    if (connections_[peer]) own[peer] = connections_[peer]->address();
  }
  const std::vector<std::string> all = bootstrap_->all_gather(to_blob(own));
  const auto rank = static_cast<std::size_t>(bootstrap_->rank());
  for (std::size_t peer = 0; peer < own.size(); ++peer) {
    if (connections_[peer]) connections_[peer]->connect(from_blob<QueueAddress>(all[peer], own.size())[rank]);
  }
  bootstrap_->barrier();  // nothing is sent to a queue pair that is not connected yet
}

VerbsTransport::Window VerbsTransport::make_window(std::size_t bytes) {
  verbs::RegisteredMemory memory(device_, bytes);
  const RemoteMemory own{reinterpret_cast<std::uintptr_t>(memory.data()), memory.remote_key()};
  std::vector<RemoteMemory> peers;
  for (const std::string& blob : bootstrap_->all_gather(to_blob(std::vector{own}))) {
    peers.push_back(from_blob<RemoteMemory>(blob, 1).front());
  }
  return {std::move(memory), std::move(peers)};
}

Capabilities VerbsTransport::capabilities() const {
  Capabilities capabilities = declared_capabilities();
  capabilities.inline_send = inline_bytes_ > 0;
  capabilities.max_inline_bytes = inline_bytes_;
  capabilities.atomics = device_.attributes.atomic_cap != IBV_ATOMIC_NONE;
  if (options_.service == verbs::Service::datagram) {
    capabilities.remote_write = capabilities.remote_read = capabilities.write_with_immediate = false;
    capabilities.atomics = capabilities.synchronises = false;
    capabilities.max_message_bytes = device_.mtu_bytes();
  }
  return capabilities;
}

std::string VerbsTransport::options_json() const {
  const bool is_reliable = options_.service == verbs::Service::reliable;
  return JsonObject()
      .add("device", device_.name)
      .add("firmware", device_.attributes.fw_ver)
      .add("link_layer", device_.is_ethernet() ? "Ethernet" : "InfiniBand")
      .add("gid_index", device_.gid_index)
      .add("gid", gid_text(device_.gid))
      .add("mtu_bytes", device_.mtu_bytes())
      .add("qp", is_reliable ? "rc" : "ud")
      .add("wait", options_.waiting == verbs::Waiting::poll ? "poll" : "event")
      .add("inline_bytes", inline_bytes_)
      .add("eager_bytes", is_reliable ? verbs::Connection::eager_bytes : device_.mtu_bytes())
      .text();
}

void VerbsTransport::progress() {
  constexpr std::uint64_t calls_between_looks = 1024;
  if (options_.waiting == verbs::Waiting::event) sched_yield();
  if (++progress_calls_ % calls_between_looks != 0) return;
  for (const auto& connection : connections_) {
    if (connection) connection->handle_arrivals();
  }
}

namespace {

Availability look_for_verbs() {
  std::vector<std::string> choices;
  for (const std::string& device : verbs::device_names()) choices.push_back("device=" + device);
  if (choices.empty()) return {.usable = false, .why = "this machine has no RDMA device"};
  return {.usable = true, .why = "", .choices = std::move(choices)};
}

}  // namespace

constinit const TransportEntry verbs_transport{
    .name = "verbs",
    .summary = "RDMA devices by libibverbs: messages, one-sided operations",
    .options = "device=NAME[+NAME...],gid=INDEX,qp=rc|ud,wait=poll|event,inline=BYTES",
    .capabilities = VerbsTransport::declared_capabilities,
    .ranks = OneProcessARank{.make_endpoint = make_verbs_endpoint},
    .availability = look_for_verbs,
    .remedy = "apt-get install libibverbs1 ibverbs-providers, or dnf install libibverbs; a device must be there, too",
};

}  // namespace chiplog
