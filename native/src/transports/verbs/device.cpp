#include "transports/verbs/device.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <fstream>
#include <span>

#include "chiplog/error.hpp"

namespace chiplog::verbs {
namespace {

class DeviceList {
 public:
  DeviceList() : devices_(library().get_device_list(&count_)) {
    // Where the kernel has no RDMA at all, this function is "not implemented".
    if (devices_ == nullptr && errno != ENOSYS) throw_failed("listing the devices", errno);
  }
  DeviceList(const DeviceList&) = delete;
  DeviceList& operator=(const DeviceList&) = delete;
  ~DeviceList() {
    if (devices_ != nullptr) library().free_device_list(devices_);
  }

  [[nodiscard]] std::span<ibv_device* const> all() const { return {devices_, static_cast<std::size_t>(count_)}; }

 private:
  int count_ = 0;
  ibv_device** devices_;
};

// The library fills only the members that its first version had.
ibv_port_attr query_port(ibv_context* context, std::uint8_t number) {
  ibv_port_attr port{};
  require_done(library().query_port(context, number, reinterpret_cast<_compat_ibv_port_attr*>(&port)),
               "asking for port " + std::to_string(number));
  return port;
}

ibv_gid query_gid(ibv_context* context, std::uint8_t port_number, int index) {
  ibv_gid gid{};
  require_done(library().query_gid(context, port_number, index, &gid), "asking for GID " + std::to_string(index));
  return gid;
}

bool is_ipv4(const ibv_gid& gid) {
  constexpr std::array<std::uint8_t, 12> prefix{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
  return std::equal(prefix.begin(), prefix.end(), gid.raw);
}

bool is_roce_v2(const std::string& device, std::uint8_t port_number, int index) {
  std::ifstream file("/sys/class/infiniband/" + device + "/ports/" + std::to_string(port_number) + "/gid_attrs/types/" +
                     std::to_string(index));
  std::string type;
  return std::getline(file, type) && type == "RoCE v2";
}

int usual_gid_index(const Device& device) {
  if (!device.is_ethernet()) return 0;
  for (int index = 0; index < device.port.gid_tbl_len; ++index) {
    if (is_roce_v2(device.name, device.port_number, index) &&
        is_ipv4(query_gid(device.context.get(), device.port_number, index))) {
      return index;
    }
  }
  return 0;
}

// 0 if no port is active.
std::uint8_t first_active_port(ibv_context* context, std::uint8_t ports) {
  for (std::uint8_t number = 1; number <= ports; ++number) {
    if (query_port(context, number).state == IBV_PORT_ACTIVE) return number;
  }
  return 0;
}

std::optional<Device> open_if_active(ibv_device* found) {
  const std::string name = library().get_device_name(found);
  auto context = owned(library().open_device(found), library().close_device, "opening device " + name);
  ibv_device_attr attributes{};
  require_done(library().query_device(context.get(), &attributes), "asking device " + name);
  const std::uint8_t number = first_active_port(context.get(), attributes.phys_port_cnt);
  if (number == 0) return std::nullopt;
  auto domain = owned(library().alloc_pd(context.get()), library().dealloc_pd, "making a protection domain");
  const ibv_port_attr port = query_port(context.get(), number);
  return Device{name, std::move(context), std::move(domain), attributes, number, port, 0, {}};
}

std::string names_of(const DeviceList& devices) {
  std::string names;
  for (ibv_device* device : devices.all()) {
    names += (names.empty() ? "" : ", ") + std::string(library().get_device_name(device));
  }
  return names.empty() ? "no RDMA device" : names;
}

}  // namespace

Device open_device(const std::string& name, std::optional<int> gid_index) {
  const DeviceList devices;
  bool is_known = name.empty();
  for (ibv_device* found : devices.all()) {
    if (!name.empty() && name != library().get_device_name(found)) continue;
    is_known = true;
    std::optional<Device> device = open_if_active(found);
    if (!device) continue;
    const int index = gid_index.value_or(usual_gid_index(*device));
    device->gid = query_gid(device->context.get(), device->port_number, index);
    device->gid_index = static_cast<std::uint8_t>(index);
    return std::move(*device);
  }
  if (!is_known) {
    throw UsageError("option 'device' of verbs: there is no '" + name + "'; this host has " + names_of(devices));
  }
  if (devices.all().empty()) throw Error(ExitCode::run_failed, "this host has no RDMA device");
  throw Error(ExitCode::run_failed, "no port of " + (name.empty() ? names_of(devices) : name) + " is active");
}

std::vector<std::string> device_names() {
  const DeviceList devices;
  std::vector<std::string> names;
  for (ibv_device* device : devices.all()) names.emplace_back(library().get_device_name(device));
  return names;
}

}  // namespace chiplog::verbs
