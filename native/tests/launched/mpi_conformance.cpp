// The conformance cases over MPI: compiled with an MPI's own compiler and started as two ranks by its launcher. The
// bootstrap is held to its promises, too.

#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include "bootstrap/mpi.hpp"
#include "conformance/launched.hpp"
#include "transports/mpi/mpi.hpp"

namespace {

using chiplog::conformance::require;

void blobs_of_every_rank_reach_every_rank(chiplog::Bootstrap& bootstrap) {
  for (const std::size_t length : {std::size_t{0}, std::size_t{1}, std::size_t{100'000}, std::size_t{3} << 20U}) {
    const std::string own(length, static_cast<char>('a' + bootstrap.rank()));
    const std::vector<std::string> all = bootstrap.all_gather(own);
    require(all.size() == static_cast<std::size_t>(bootstrap.size()), "all_gather left out ranks");
    for (std::size_t rank = 0; rank < all.size(); ++rank) {
      require(all[rank] == std::string(length, static_cast<char>('a' + rank)), "all_gather changed a blob");
    }
    require(bootstrap.broadcast(bootstrap.rank() == 0 ? "from 0" : "") == "from 0", "broadcast changed a blob");
    bootstrap.barrier();
  }
}

int check(chiplog::Bootstrap& bootstrap) {
  try {
    blobs_of_every_rank_reach_every_rank(bootstrap);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "rank %d: bootstrap: %s\n", bootstrap.rank(), error.what());
    return 1;
  }
  chiplog::MpiTransport transport;
  return chiplog::conformance::run_launched(transport, bootstrap.rank());
}

}  // namespace

int main(int argc, char** argv) {
  chiplog::MpiLibrary library(argc, argv);
  chiplog::MpiBootstrap bootstrap(std::chrono::seconds(30));
  const int failures = check(bootstrap);
  if (failures != 0) chiplog::MpiLibrary::abort(1);
  if (bootstrap.rank() == 0) std::puts("conforms");
  return 0;
}
