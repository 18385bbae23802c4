#include "transports/ofi/endpoint.hpp"

#include <rdma/fi_cm.h>
#include <rdma/fi_errno.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstring>

#include "chiplog/error.hpp"
#include "transports/ofi/signals.hpp"

namespace chiplog::ofi {
namespace {

Owned<fid_cq> open_queue(fid_domain* domain, fi_cq_format format, std::size_t size) {
  fi_cq_attr attributes{};
  attributes.format = format;
  attributes.size = size;
  attributes.wait_obj = FI_WAIT_NONE;
  fid_cq* queue = nullptr;
  check(fi_cq_open(domain, &attributes, &queue, nullptr), "libfabric can't open a completion queue");
  return Owned<fid_cq>(queue);
}

std::string own_name(fid_ep* endpoint) {
  std::size_t bytes = 0;
  fi_getname(&endpoint->fid, nullptr, &bytes);  // says how many there are
  std::string name(bytes, '\0');
  check(fi_getname(&endpoint->fid, name.data(), &bytes), "libfabric can't tell its endpoint's address");
  return name;
}

}  // namespace

Endpoint::Endpoint(Bootstrap& bootstrap, const OfiOptions& options, std::size_t posted)
    : info_(choose_provider(bootstrap, options)) {
  std::string failure;
  try {
    const KeepSignalHandlers keep;
    open(posted);
  } catch (const Error& error) {
    failure = error.what();
  }
  for (const std::string& reason : bootstrap.all_gather(failure)) {
    if (reason.empty()) continue;
    if (bootstrap.rank() == 0) throw Error(ExitCode::run_failed, reason);
    throw PeerLost(reason);  // which rank 0 tells
  }
  find_peers(bootstrap);
}

void Endpoint::open(std::size_t posted) {
  fid_fabric* fabric = nullptr;
  check(library().open_fabric(info_->fabric_attr, &fabric, nullptr), "libfabric can't open its fabric");
  fabric_.reset(fabric);
  fid_domain* domain = nullptr;
  check(fi_domain(fabric, info_.get(), &domain, nullptr), "libfabric can't open its domain");
  domain_.reset(domain);
  fi_av_attr vector_attributes{};
  vector_attributes.type = info_->domain_attr->av_type;
  fid_av* vector = nullptr;
  check(fi_av_open(domain, &vector_attributes, &vector, nullptr), "libfabric can't open an address vector");
  vector_.reset(vector);
  transmits_ = open_queue(domain, FI_CQ_FORMAT_CONTEXT, std::max(posted, info_->tx_attr->size));
  receives_ = open_queue(domain, FI_CQ_FORMAT_DATA, std::max(posted, info_->rx_attr->size));
  fid_ep* endpoint = nullptr;
  check(fi_endpoint(domain, info_.get(), &endpoint, nullptr), "libfabric can't open an endpoint");
  endpoint_.reset(endpoint);
  check(fi_ep_bind(endpoint, &vector->fid, 0), "libfabric can't bind an address vector");
  check(fi_ep_bind(endpoint, &transmits_->fid, FI_TRANSMIT), "libfabric can't bind a completion queue");
  check(fi_ep_bind(endpoint, &receives_->fid, FI_RECV), "libfabric can't bind a completion queue");
  check(fi_enable(endpoint), "libfabric can't enable an endpoint");
}

void Endpoint::find_peers(Bootstrap& bootstrap) {
  names_ = bootstrap.all_gather(own_name(endpoint_.get()));
  addresses_.resize(names_.size());
  for (std::size_t rank = 0; rank < names_.size(); ++rank) {
    if (fi_av_insert(vector_.get(), names_[rank].data(), 1, &addresses_[rank], 0, nullptr) != 1) {
      throw Error(ExitCode::run_failed, "libfabric can't reach rank " + std::to_string(rank) + " from rank " +
                                            std::to_string(bootstrap.rank()));
    }
  }
}

Owned<fid_mr> Endpoint::register_memory(AlignedBuffer<0>& memory, std::uint64_t access) {
  fid_mr* registration = nullptr;
  check(fi_mr_reg(domain_.get(), memory.data(), memory.capacity(), access, 0, next_key_++, 0, &registration, nullptr),
        "libfabric can't register memory");
  Owned<fid_mr> owned(registration);
  if ((info_->domain_attr->mr_mode & FI_MR_ENDPOINT) != 0) {
    check(fi_mr_bind(registration, &endpoint_->fid, 0), "libfabric can't bind memory to an endpoint");
    check(fi_mr_enable(registration), "libfabric can't enable memory");
  }
  return owned;
}

OfiBuffer Endpoint::make_buffer(std::size_t bytes) {
  AlignedBuffer<0> memory(std::max<std::size_t>(bytes, 1));
  Owned<fid_mr> registration;
  if ((info_->domain_attr->mr_mode & FI_MR_LOCAL) != 0) {
    registration = register_memory(memory, FI_SEND | FI_RECV | FI_READ | FI_WRITE);
  }
  return OfiBuffer(RegisteredMemory(std::move(memory), std::move(registration)));
}

OfiWindow Endpoint::make_window(Bootstrap& bootstrap, std::size_t bytes) {
  AlignedBuffer<0> memory(std::max<std::size_t>(bytes, 1));
  Owned<fid_mr> registration = register_memory(memory, FI_REMOTE_READ | FI_REMOTE_WRITE);
  const bool by_address = (info_->domain_attr->mr_mode & FI_MR_VIRT_ADDR) != 0;
  const OfiWindow::Part own{by_address ? reinterpret_cast<std::uintptr_t>(memory.data()) : 0,
                            fi_mr_key(registration.get())};
  std::vector<OfiWindow::Part> parts;
  for (const std::string& told : bootstrap.all_gather({reinterpret_cast<const char*>(&own), sizeof own})) {
    if (told.size() != sizeof own) throw Corrupt("the place of a window arrived damaged");
    std::memcpy(&parts.emplace_back(), told.data(), sizeof own);
  }
  return {RegisteredMemory(std::move(memory), std::move(registration)), std::move(parts)};
}

void Endpoint::hide() const {
  if (!is_shm(*info_)) return;
  for (const std::string& name : names_) {
    const std::size_t scheme = name.find("://");
    const std::string file = scheme == std::string::npos ? name : name.substr(scheme + 3);
    shm_unlink(("/" + file).c_str());  // there is none where another rank was faster
  }
}

}  // namespace chiplog::ofi
