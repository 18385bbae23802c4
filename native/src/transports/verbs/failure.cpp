#include "transports/verbs/failure.hpp"

#include <string>

#include "chiplog/error.hpp"
#include "core/failures.hpp"
#include "transports/verbs/library.hpp"

namespace chiplog::verbs {

std::exception_ptr failure_of(const ibv_wc& completion, Rank peer) {
  const std::string rank = name_of(peer);
  const std::string status = library().wc_status_str(completion.status);
  switch (completion.status) {
    case IBV_WC_RETRY_EXC_ERR:
      return std::make_exception_ptr(PeerLost(rank + " does not answer any more", peer));
    case IBV_WC_WR_FLUSH_ERR:
      return std::make_exception_ptr(PeerLost(rank + " is no longer connected: " + status, peer));
    case IBV_WC_REM_ACCESS_ERR:
      return std::make_exception_ptr(
          Error(ExitCode::run_failed, rank + " has no memory of that key and range for this operation: " + status));
    default:
      return std::make_exception_ptr(Error(ExitCode::run_failed, "verbs to " + rank + ": " + status));
  }
}

}  // namespace chiplog::verbs
