// Chooses a provider of libfabric and describes it.
#pragma once

#include <string>
#include <vector>

#include "chiplog/bootstrap.hpp"
#include "transports/ofi/library.hpp"

namespace chiplog {

struct OfiOptions {
  // The name that libfabric gives it, such as "tcp", "shm", "verbs" or "tcp;ofi_rxm". If it is empty, libfabric's first
  // one is taken.
  std::string provider = {};
  // The provider's domain, such as "lo". If it is empty, its first one is taken.
  std::string domain = {};
};

namespace ofi {

// Reliable datagrams with tagged messages; with one-sided operations where the provider writes in order, and with
// atomic ones where it has them. Rank 0 chooses and the others take the same provider. Collective: where one of the
// ranks has none, all end, rank 0 with the reason. UsageError if an option is why.
Info choose_provider(Bootstrap& bootstrap, const OfiOptions& options);

// The operations that the provider was chosen for.
[[nodiscard]] Capabilities capabilities_of(const fi_info& info);

// libfabric's shared memory: it knows no end of a peer, has files in /dev/shm, and gets stuck where a long message
// meets a short receive.
[[nodiscard]] bool is_shm(const fi_info& info);

// The provider and its properties as a JSON object.
[[nodiscard]] std::string describe_json(const fi_info& info);

// The providers that this machine has for reliable datagrams, as a user names them, each once.
[[nodiscard]] std::vector<std::string> providers_here();

}  // namespace ofi
}  // namespace chiplog
