// One RDMA device, opened at one of its ports.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "transports/verbs/library.hpp"

namespace chiplog::verbs {

struct Device {
  std::string name;
  Owned<ibv_context> context;
  Owned<ibv_pd> domain;
  ibv_device_attr attributes;
  std::uint8_t port_number;
  ibv_port_attr port;
  std::uint8_t gid_index;
  ibv_gid gid;

  // True for RoCE, whose addresses are GIDs: there are no LIDs.
  [[nodiscard]] bool is_ethernet() const { return port.link_layer == IBV_LINK_LAYER_ETHERNET; }
  [[nodiscard]] std::size_t mtu_bytes() const { return std::size_t{128} << static_cast<unsigned>(port.active_mtu); }
};

// The device of this name, or the first that has an active port. Without `gid_index`, on Ethernet the first GID that
// is an IPv4 address in RoCE v2, else 0. UsageError that lists the devices there are; Error if no port is active.
Device open_device(const std::string& name, std::optional<int> gid_index);

// The devices that this machine has, by name. Error where libibverbs is missing.
[[nodiscard]] std::vector<std::string> device_names();

}  // namespace chiplog::verbs
