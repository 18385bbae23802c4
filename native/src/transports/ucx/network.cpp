#include "transports/ucx/network.hpp"

#include "chiplog/error.hpp"

namespace chiplog::ucx {
namespace {

std::string in_words(const UcxOptions& options) {
  std::string words;
  if (!options.tls.empty()) words += " with tls " + options.tls;
  if (!options.devices.empty()) words += (words.empty() ? " with device " : " and device ") + options.devices;
  return words;
}

class Configuration {
 public:
  explicit Configuration(const Library& library) : library_(library) {
    library.check(library.config_read(nullptr, nullptr, &config_), "read its configuration");
  }
  ~Configuration() { library_.config_release(config_); }
  Configuration(const Configuration&) = delete;
  Configuration& operator=(const Configuration&) = delete;

  void set(const char* name, const std::string& value) const {
    if (value.empty()) return;
    library_.check(library_.config_modify(config_, name, value.c_str()), "set " + std::string(name) + " to " + value);
  }
  [[nodiscard]] const ucp_config_t* get() const { return config_; }

 private:
  const Library& library_;
  ucp_config_t* config_ = nullptr;
};

}  // namespace

Network::Network(Bootstrap& bootstrap, const UcxOptions& options)
    : context_(nullptr, Cleanup{&library_}), worker_(nullptr, DestroyWorker{&library_}) {
  start(options, bootstrap.size());
  make_worker();
  Rank peer = 0;
  for (const std::string& address : bootstrap.all_gather(own_address())) {
    endpoints_.push_back(nullptr);
    if (peer != bootstrap.rank()) connect(address, peer);
    ++peer;
  }
}

void Network::start(const UcxOptions& options, int ranks) {
  const Configuration configuration(library_);
  configuration.set("TLS", options.tls);
  configuration.set("NET_DEVICES", options.devices);
  ucp_params_t parameters{};
  parameters.field_mask = UCP_PARAM_FIELD_FEATURES | UCP_PARAM_FIELD_ESTIMATED_NUM_EPS;
  parameters.features = UCP_FEATURE_TAG | UCP_FEATURE_RMA | UCP_FEATURE_AMO64;
  parameters.estimated_num_eps = static_cast<std::size_t>(ranks);
  ucp_context_h context = nullptr;
  library_.check(library_.init_version(UCP_API_MAJOR, UCP_API_MINOR, &parameters, configuration.get(), &context),
                 "start" + in_words(options));
  context_.reset(context);
}

void Network::make_worker() {
  ucp_worker_params_t parameters{};
  // After an error requests are left behind, which is no news.
  parameters.field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE | UCP_WORKER_PARAM_FIELD_FLAGS;
  parameters.thread_mode = UCS_THREAD_MODE_SINGLE;
  parameters.flags = UCP_WORKER_FLAG_IGNORE_REQUEST_LEAK;
  ucp_worker_h worker = nullptr;
  library_.check(library_.worker_create(context(), &parameters, &worker), "make a worker");
  worker_.reset(worker);
}

std::string Network::own_address() const {
  ucp_address_t* address = nullptr;
  std::size_t bytes = 0;
  library_.check(library_.worker_get_address(worker(), &address, &bytes), "tell its address");
  std::string copy(reinterpret_cast<const char*>(address), bytes);
  library_.worker_release_address(worker(), address);
  return copy;
}

void Network::connect(const std::string& address, Rank peer) {
  ucp_ep_params_t parameters{};
  parameters.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS | UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE;
  parameters.address = reinterpret_cast<const ucp_address_t*>(address.data());
  parameters.err_mode = UCP_ERR_HANDLING_MODE_NONE;
  library_.check(library_.ep_create(worker(), &parameters, &endpoints_.back()), "reach rank " + std::to_string(peer));
}

}  // namespace chiplog::ucx
