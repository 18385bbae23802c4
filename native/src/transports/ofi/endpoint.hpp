// One reliable-datagram endpoint with its queues, and the addresses of all ranks.
#pragma once

#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>

#include <cstddef>
#include <string>
#include <vector>

#include "chiplog/bootstrap.hpp"
#include "transports/ofi/memory.hpp"
#include "transports/ofi/provider.hpp"

namespace chiplog::ofi {

// The members are closed in the reverse order, also when an error is thrown.
class Endpoint {
 public:
  // Collective. `posted` operations may be outstanding.
  Endpoint(Bootstrap& bootstrap, const OfiOptions& options, std::size_t posted);

  [[nodiscard]] const fi_info& info() const { return *info_; }
  [[nodiscard]] fid_ep* get() const { return endpoint_.get(); }
  // Entries are fi_cq_entry.
  [[nodiscard]] fid_cq* transmits() const { return transmits_.get(); }
  // Entries are fi_cq_data_entry.
  [[nodiscard]] fid_cq* receives() const { return receives_.get(); }
  [[nodiscard]] fi_addr_t address_of(Rank peer) const { return addresses_[static_cast<std::size_t>(peer)]; }

  // Makes zeroed memory that is the source and the target of this rank's own operations.
  [[nodiscard]] OfiBuffer make_buffer(std::size_t bytes);
  // Makes zeroed memory that peers reach. Collective.
  [[nodiscard]] OfiWindow make_window(Bootstrap& bootstrap, std::size_t bytes);

  // Removes the names under which the shm provider's endpoints lie in /dev/shm, those of all ranks: to be called once
  // all have found each other. What then remains goes with the last process, however that ends.
  void hide() const;

 private:
  void open(std::size_t posted);
  void find_peers(Bootstrap& bootstrap);
  [[nodiscard]] Owned<fid_mr> register_memory(AlignedBuffer<0>& memory, std::uint64_t access);

  Info info_;
  Owned<fid_fabric> fabric_;
  Owned<fid_domain> domain_;
  Owned<fid_av> vector_;
  Owned<fid_cq> transmits_;
  Owned<fid_cq> receives_;
  Owned<fid_ep> endpoint_;
  std::vector<std::string> names_;
  std::vector<fi_addr_t> addresses_;
  std::uint64_t next_key_ = 1;
};

}  // namespace chiplog::ofi
