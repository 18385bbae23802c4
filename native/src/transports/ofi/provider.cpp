#include "transports/ofi/provider.hpp"

#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "chiplog/error.hpp"
#include "core/json_object.hpp"
#include "core/nodes.hpp"
#include "transports/ofi/signals.hpp"

namespace chiplog::ofi {
namespace {

constexpr std::uint32_t api_version = FI_VERSION(1, 17);
constexpr int known_registration = FI_MR_LOCAL | FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY | FI_MR_ENDPOINT;
constexpr std::size_t most_bytes = std::size_t{1} << 30U;
// A rank's number must fit into what travels with a write.
constexpr std::size_t immediate_bytes = 4;

// The capabilities to ask for, the richest set first. One-sided operations are worth something only where writes land
// in order.
struct Wish {
  std::uint64_t capabilities;
  std::uint64_t order;
};
constexpr std::array<Wish, 3> wishes{{
    {FI_TAGGED | FI_RMA | FI_ATOMIC, FI_ORDER_SAS | FI_ORDER_RMA_WAW},
    {FI_TAGGED | FI_RMA, FI_ORDER_SAS | FI_ORDER_RMA_WAW},
    {FI_TAGGED, FI_ORDER_SAS},
}};

char* copy_for_library(const std::string& text) { return text.empty() ? nullptr : strdup(text.c_str()); }

// Returns null where there is no provider for it. Only one thread calls, so the weaker promise about threads is enough.
Info find(const OfiOptions& options, const Wish& wish, bool between_hosts) {
  const Info hints(library().copy_info(nullptr));
  if (!hints) throw_failure(FI_ENOMEM, "libfabric can't describe what is wanted");
  hints->caps = wish.capabilities | (between_hosts ? FI_REMOTE_COMM : 0);
  hints->mode = FI_CONTEXT | FI_CONTEXT2;
  hints->ep_attr->type = FI_EP_RDM;
  hints->tx_attr->msg_order = wish.order;
  hints->rx_attr->msg_order = wish.order;
  hints->domain_attr->mr_mode = known_registration;
  hints->domain_attr->threading = FI_THREAD_DOMAIN;
  hints->domain_attr->name = copy_for_library(options.domain);
  hints->fabric_attr->prov_name = copy_for_library(options.provider);
  fi_info* found = nullptr;
  const KeepSignalHandlers keep;
  const int result = library().get_info(api_version, nullptr, nullptr, 0, hints.get(), &found);
  if (result == -FI_ENODATA || result == -FI_ENOSYS) return nullptr;
  check(result, "libfabric can't say which providers it has");
  return Info(found);
}

Info find_best(const OfiOptions& options, bool between_hosts) {
  for (const Wish& wish : wishes) {
    if (Info found = find(options, wish, between_hosts)) return found;
  }
  return nullptr;
}

std::string offered_providers(bool between_hosts) {
  const Info all = find({}, wishes.back(), between_hosts);
  std::vector<std::string> names;
  for (const fi_info* one = all.get(); one != nullptr; one = one->next) {
    const std::string name = one->fabric_attr->prov_name;
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  }
  std::string list;
  for (const std::string& name : names) list += (list.empty() ? "" : ", ") + name;
  return list.empty() ? "none" : list;
}

std::string why_none(const OfiOptions& options, bool between_hosts) {
  std::string asked = options.provider.empty() ? "no provider" : "no provider '" + options.provider + "'";
  if (!options.domain.empty()) asked += " with domain '" + options.domain + "'";
  return "options 'provider' and 'domain' of ofi: libfabric " + library_version() + " has " + asked +
         " for tagged messages over reliable datagrams" + (between_hosts ? " between hosts" : "") + "; it has " +
         offered_providers(between_hosts);
}

std::string text_of(const void* data, fi_type type) {
  const char* text = library().text(data, type);
  return text == nullptr ? "" : text;
}

// The provider's promise about the completion of a send or write.
std::string completion_of(const fi_info& info) {
  const std::uint64_t flags = info.tx_attr->op_flags;
  if ((flags & FI_DELIVERY_COMPLETE) != 0) return "delivery";
  if ((flags & FI_MATCH_COMPLETE) != 0) return "match";
  if ((flags & FI_INJECT_COMPLETE) != 0) return "inject";
  return "transmit";  // libfabric's rule for reliable endpoints that name none
}

// libfabric starts all its providers when it is first asked, which takes a fifth of a second: here all ranks do so at
// once, not one after the other. A failure shows again, and is told, where a provider is chosen.
void start_providers() {
  try {
    fi_info* known = nullptr;
    const KeepSignalHandlers keep;
    if (library().get_info(api_version, nullptr, nullptr, FI_PROV_ATTR_ONLY, nullptr, &known) == 0) Info{known};
  } catch (const Error&) {
    return;
  }
}

bool has(const fi_info& info, std::uint64_t capabilities) { return (info.caps & capabilities) == capabilities; }

}  // namespace

Info choose_provider(Bootstrap& bootstrap, const OfiOptions& options) {
  start_providers();
  const bool between_hosts = find_nodes(bootstrap).size() > 1;
  const bool chooses = bootstrap.rank() == 0;
  OfiOptions agreed = options;
  Info found;
  std::string failure;
  ExitCode ends_with = ExitCode::run_failed;
  const auto choose = [&] {
    try {
      found = find_best(agreed, between_hosts);
      if (!found) failure = why_none(agreed, between_hosts);
      if (!found) ends_with = ExitCode::wrong_usage;
    } catch (const Error& error) {
      failure = error.what();
    }
  };
  if (chooses) choose();
  agreed.provider = bootstrap.broadcast(found ? found->fabric_attr->prov_name : "");
  if (!chooses) choose();
  for (const std::string& reason : bootstrap.all_gather(failure)) {
    if (reason.empty()) continue;
    if (chooses) throw Error(ends_with, reason);
    throw PeerLost(reason);  // which rank 0 tells
  }
  return found;
}

bool is_shm(const fi_info& info) { return std::strcmp(info.fabric_attr->prov_name, "shm") == 0; }

Capabilities capabilities_of(const fi_info& info) {
  const bool one_sided = has(info, FI_RMA);
  return {
      .two_sided = true,
      .remote_write = one_sided,
      .remote_read = one_sided,
      .write_with_immediate = one_sided && info.domain_attr->cq_data_size >= immediate_bytes,
      .atomics = has(info, FI_ATOMIC),
      .inline_send = info.tx_attr->inject_size > 0,
      .list_posting = true,
      .synchronises = true,
      .posts_receives = true,
      .multiple_hosts = !is_shm(info),
      .max_message_bytes = std::min(info.ep_attr->max_msg_size, most_bytes),
      .max_inline_bytes = info.tx_attr->inject_size,
  };
}

std::string describe_json(const fi_info& info) {
  const fi_domain_attr& domain = *info.domain_attr;
  return JsonObject()
      .add("provider", info.fabric_attr->prov_name)
      .add("domain", domain.name == nullptr ? "" : domain.name)
      .add("libfabric", library_version())
      .add("data_progress", domain.data_progress == FI_PROGRESS_AUTO ? "auto" : "manual")
      .add("memory_registration", text_of(&domain.mr_mode, FI_TYPE_MR_MODE))
      .add("message_order", text_of(&info.tx_attr->msg_order, FI_TYPE_MSG_ORDER))
      .add("completion", completion_of(info))
      .add("inline_bytes", info.tx_attr->inject_size)
      .add("send_queue", info.tx_attr->size)
      .add("receive_queue", info.rx_attr->size)
      .text();
}

std::vector<std::string> providers_here() {
  const Info hints(library().copy_info(nullptr));
  if (!hints) throw_failure(FI_ENOMEM, "libfabric can't describe what is wanted");
  hints->caps = FI_MSG;
  hints->mode = FI_CONTEXT | FI_CONTEXT2;
  hints->ep_attr->type = FI_EP_RDM;
  hints->domain_attr->mr_mode = known_registration;
  fi_info* found = nullptr;
  if (library().get_info(api_version, nullptr, nullptr, 0, hints.get(), &found) != 0) return {};
  const Info all(found);
  std::vector<std::string> names;
  for (const fi_info* one = all.get(); one != nullptr; one = one->next) {
    const std::string name = one->fabric_attr->prov_name;
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  }
  return names;
}

}  // namespace chiplog::ofi
