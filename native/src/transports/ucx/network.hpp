// UCX between the ranks of one run: a context, a worker and an endpoint to every other rank.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "chiplog/bootstrap.hpp"
#include "transports/ucx/library.hpp"

namespace chiplog {

struct UcxOptions {
  // The values for UCX_TLS and UCX_NET_DEVICES, "tcp" and "eth0,eth1"; empty: those of the environment or UCX's own
  // choice.
  std::string tls{};
  std::string devices{};
};

}  // namespace chiplog

namespace chiplog::ucx {

// Endpoints don't handle errors (UCP_ERR_HANDLING_MODE_NONE), as in MPI libraries: handling them changes which
// protocols UCX uses, and over shared memory it doesn't tell of a peer that died.
class Network {
 public:
  // Collective. Throws Error if UCX can't start as asked or can't reach a rank. Endpoints connect with their first
  // message.
  Network(Bootstrap& bootstrap, const UcxOptions& options);
  // Messages on their way may be lost, so flush first.
  ~Network() = default;
  Network(const Network&) = delete;
  Network& operator=(const Network&) = delete;

  [[nodiscard]] const Library& library() const { return library_; }
  [[nodiscard]] ucp_context_h context() const { return context_.get(); }
  [[nodiscard]] ucp_worker_h worker() const { return worker_.get(); }
  // The endpoint to a peer; null for this rank itself.
  [[nodiscard]] ucp_ep_h endpoint(Rank peer) const { return endpoints_[static_cast<std::size_t>(peer)]; }
  [[nodiscard]] const std::vector<ucp_ep_h>& endpoints() const { return endpoints_; }

 private:
  struct Cleanup {
    const Library* library;
    void operator()(ucp_context_h context) const { library->cleanup(context); }
  };
  // Destroying the worker also closes its endpoints.
  struct DestroyWorker {
    const Library* library;
    void operator()(ucp_worker_h worker) const { library->worker_destroy(worker); }
  };

  void start(const UcxOptions& options, int ranks);
  void make_worker();
  [[nodiscard]] std::string own_address() const;
  void connect(const std::string& address, Rank peer);

  Library library_;
  std::unique_ptr<std::remove_pointer_t<ucp_context_h>, Cleanup> context_;
  std::unique_ptr<std::remove_pointer_t<ucp_worker_h>, DestroyWorker> worker_;
  std::vector<ucp_ep_h> endpoints_;
};

}  // namespace chiplog::ucx
