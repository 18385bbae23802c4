#include "transports/ucx/ucx.hpp"

#include <algorithm>
#include <exception>

#include "chiplog/error.hpp"
#include "core/json_object.hpp"
#include "patterns/make_endpoint.hpp"
#include "transports/registry.hpp"
#include "transports/ucx/description.hpp"

namespace chiplog {
namespace {

// This is the number of no rank.
constexpr ucp_tag_t greeting_tag = ucp_tag_t{1} << 32U;
constexpr auto parting_patience = std::chrono::seconds(2);

bool is_loss(ucs_status_t status) {
  return status == UCS_ERR_CONNECTION_RESET || status == UCS_ERR_NOT_CONNECTED || status == UCS_ERR_REJECTED ||
         status == UCS_ERR_TIMED_OUT ||
         (status <= UCS_ERR_FIRST_LINK_FAILURE && status >= UCS_ERR_LAST_ENDPOINT_FAILURE);
}

// UCX takes lists with commas, which end an option.
std::string joined(const std::vector<std::string>& names) {
  std::string list;
  for (const std::string& one : names) list += (list.empty() ? "" : ",") + one;
  return list;
}

std::unique_ptr<Endpoint> make_ucx_endpoint(Bootstrap& bootstrap, Options& given, const RunSettings& settings) {
  const UcxOptions options{.tls = joined(given.texts("tls")), .devices = joined(given.texts("device"))};
  given.refuse_unknown();
  return make_endpoint(bootstrap, settings.time_limit,
                       [&] { return UcxTransport(bootstrap, options, settings.time_limit); });
}

}  // namespace

UcxTransport::UcxTransport(Bootstrap& bootstrap, const UcxOptions& options, std::chrono::nanoseconds time_limit)
    : bootstrap_(bootstrap),
      options_(options),
      liveness_(bootstrap),
      watch_([this](Rank peer) { return liveness_.lives(peer); },
             WaitPolicy::make(LookCost::library, ranks_are_crowded(bootstrap), time_limit)),
      network_(bootstrap, options),
      ucx_(network_.library()),
      worker_(network_.worker()),
      own_tag_(static_cast<ucp_tag_t>(bootstrap.rank())) {
  // UCX need not ask which kind of memory it is.
  plain_.op_attr_mask = UCP_OP_ATTR_FIELD_MEMORY_TYPE;
  plain_.memory_type = UCS_MEMORY_TYPE_HOST;
  receiving_ = plain_;
  // UCX 1.13 tells the length of a message only where there is a request.
  receiving_.op_attr_mask |= UCP_OP_ATTR_FLAG_NO_IMM_CMPL;
  atomic_ = plain_;
  atomic_.op_attr_mask |= UCP_OP_ATTR_FIELD_DATATYPE | UCP_OP_ATTR_FIELD_REPLY_BUFFER;
  atomic_.datatype = ucp_dt_make_contig(sizeof(std::uint64_t));
  shake_hands(bootstrap.size());
}

UcxTransport::~UcxTransport() {
  if (std::uncaught_exceptions() == 0) flush();
}

// An endpoint connects with its first message, and only then it's settled which networks it uses.
void UcxTransport::shake_hands(int ranks) {
  const auto self = static_cast<Rank>(own_tag_);
  Buffer empty = make_buffer(0);
  for (Rank peer = 0; peer < ranks; ++peer) {
    if (peer == self) continue;
    void* request = start_send(peer, empty, 0, greeting_tag | own_tag_);
    if (request != nullptr) sends_.add(request, peer);
    if (sends_.full()) wait_sends();
  }
  for (Rank peer = 0; peer < ranks; ++peer) {
    if (peer != self) receive(peer, empty, 0, greeting_tag | static_cast<ucp_tag_t>(peer));
  }
  wait_sends();
}

void UcxTransport::flush() noexcept {
  void* request = ucx_.worker_flush_nbx(worker_, &plain_);
  if (!UCS_PTR_IS_PTR(request)) return;
  const auto deadline = std::chrono::steady_clock::now() + parting_patience;
  while (ucx_.request_check_status(request) == UCS_INPROGRESS && std::chrono::steady_clock::now() < deadline)
    progress();
  ucx_.request_free(request);
}

void UcxTransport::abandon(void* request) {
  ucx_.request_cancel(worker_, request);
  ucx_.request_free(request);
}

std::string UcxTransport::options_json() const { return ucx::describe_json(network_, options_); }

void UcxTransport::throw_failed(ucs_status_t status, Rank peer) const {
  if (status == UCS_ERR_MESSAGE_TRUNCATED) throw_truncated(peer);
  const std::string who = name_of(peer);
  const std::string reason = ": " + ucx_.text_of(status);
  if (is_loss(status) || !liveness_.lives(peer)) throw PeerLost("UCX has lost " + who + reason, peer);
  throw Error(ExitCode::run_failed, "UCX can't exchange data with " + who + reason);
}

namespace {

Availability look_for_ucx() { return {.usable = true, .why = "UCX " + ucx::Library().version()}; }

}  // namespace

constinit const TransportEntry ucx_transport{
    .name = "ucx",
    .summary = "UCX: tagged messages, put, get and atomics on the networks that it finds",
    .options = "tls=NAME,device=NAME (each as often as needed)",
    .capabilities = UcxTransport::declared_capabilities,
    .ranks = OneProcessARank{.make_endpoint = make_ucx_endpoint},
    .availability = look_for_ucx,
    .remedy = "apt-get install libucx0, or dnf install ucx",
};

}  // namespace chiplog
