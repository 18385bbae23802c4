#include "transports/verbs/queue_pair.hpp"

#include <poll.h>

#include <algorithm>
#include <random>
#include <string>

#include "chiplog/error.hpp"

namespace chiplog::verbs {
namespace {

// 4.096 us * 2^14 = 67 ms for an acknowledgement, and some more tries: a peer that is gone is noticed within seconds.
constexpr std::uint8_t acknowledgement_timeout = 14;
constexpr std::uint8_t retries = 6;  // soft-RoCE takes 7 for "without end"
// A message that finds no receive posted is sent again until there is one; the transport's time limit ends that.
constexpr std::uint8_t retries_without_receive = 7;
constexpr std::uint8_t wait_without_receive = 1;  // 10 us
constexpr std::uint8_t hops = 64;

std::uint32_t random_packet_number() { return std::random_device()() & 0xffffffU; }

Owned<ibv_qp> make_pair(const Device& device, Service service, ibv_cq* completions, QueueLimits& limits) {
  for (;;) {
    ibv_qp_init_attr wanted{};
    wanted.send_cq = completions;
    wanted.recv_cq = completions;
    wanted.qp_type = service == Service::reliable ? IBV_QPT_RC : IBV_QPT_UD;
    wanted.cap = {limits.sends, limits.receives, 1, 1, limits.inline_bytes};
    ibv_qp* pair = library().create_qp(device.domain.get(), &wanted);
    if (pair != nullptr) {
      limits.inline_bytes = wanted.cap.max_inline_data;
      return {pair, library().destroy_qp};
    }
    // Which limit the device refused it does not say; of these only the inline bytes may be fewer.
    if (limits.inline_bytes == 0) throw_failed("making a queue pair", errno);
    limits.inline_bytes /= 2;
  }
}

void modify(ibv_qp* pair, ibv_qp_attr& attributes, int which, const char* what) {
  require_done(library().modify_qp(pair, &attributes, which), what);
}

}  // namespace

QueuePair::QueuePair(const Device& device, Service service, const QueueLimits& wanted)
    : device_(&device),
      service_(service),
      limits_(wanted),
      first_packet_(random_packet_number()),
      channel_(owned(library().create_comp_channel(device.context.get()), library().destroy_comp_channel,
                     "making a completion channel")),
      completions_(owned(library().create_cq(device.context.get(), static_cast<int>(wanted.sends + wanted.receives),
                                             nullptr, channel_.get(), 0),
                         library().destroy_cq, "making a completion queue")),
      pair_(make_pair(device, service, completions_.get(), limits_)),
      route_(nullptr, library().destroy_ah) {
  ibv_qp_attr attributes{};
  attributes.qp_state = IBV_QPS_INIT;
  attributes.port_num = device.port_number;
  int which = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT;
  if (service == Service::reliable) {
    attributes.qp_access_flags = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC;
    which |= IBV_QP_ACCESS_FLAGS;
  } else {
    attributes.qkey = datagram_key;
    which |= IBV_QP_QKEY;
  }
  modify(pair_.get(), attributes, which, "preparing a queue pair");
}

QueueAddress QueuePair::address() const {
  QueueAddress here;
  here.number = pair_->qp_num;
  here.first_packet = first_packet_;
  here.mtu = static_cast<std::uint32_t>(device_->port.active_mtu);
  here.max_reads = static_cast<std::uint32_t>(device_->attributes.max_qp_rd_atom);
  here.lid = device_->port.lid;
  here.is_ethernet = device_->is_ethernet() ? 1 : 0;
  here.gid = device_->gid;
  return here;
}

void QueuePair::connect(const QueueAddress& there) {
  if ((there.is_ethernet != 0) != device_->is_ethernet()) {
    throw UsageError("the devices of verbs can't reach each other: one is on Ethernet, one on InfiniBand");
  }
  there_ = there;
  ibv_ah_attr path{};
  path.dlid = there.lid;
  path.port_num = device_->port_number;
  if (device_->is_ethernet()) {
    path.is_global = 1;
    path.grh.dgid = there.gid;
    path.grh.sgid_index = device_->gid_index;
    path.grh.hop_limit = hops;
  }
  if (service_ == Service::reliable) {
    connect_reliable(there, path);
  } else {
    connect_datagram(path);
  }
}

void QueuePair::connect_reliable(const QueueAddress& there, ibv_ah_attr& path) {
  const auto fewer = [](int own, std::uint32_t other) {
    return static_cast<std::uint8_t>(std::min({static_cast<std::uint32_t>(own), other, std::uint32_t{128}}));
  };
  const QueueAddress here = address();
  ibv_qp_attr attributes{};
  attributes.qp_state = IBV_QPS_RTR;
  attributes.ah_attr = path;
  attributes.path_mtu = static_cast<ibv_mtu>(std::min(here.mtu, there.mtu));
  attributes.dest_qp_num = there.number;
  attributes.rq_psn = there.first_packet;
  attributes.max_dest_rd_atomic = fewer(device_->attributes.max_qp_rd_atom, here.max_reads);
  attributes.min_rnr_timer = wait_without_receive;
  modify(pair_.get(), attributes,
         IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC |
             IBV_QP_MIN_RNR_TIMER,
         "connecting a queue pair");
  attributes.qp_state = IBV_QPS_RTS;
  attributes.sq_psn = first_packet_;
  attributes.timeout = acknowledgement_timeout;
  attributes.retry_cnt = retries;
  attributes.rnr_retry = retries_without_receive;
  attributes.max_rd_atomic = fewer(device_->attributes.max_qp_init_rd_atom, there.max_reads);
  modify(pair_.get(), attributes,
         IBV_QP_STATE | IBV_QP_SQ_PSN | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC,
         "opening a queue pair");
}

void QueuePair::connect_datagram(ibv_ah_attr& path) {
  route_ = owned(library().create_ah(device_->domain.get(), &path), library().destroy_ah, "finding the way to a peer");
  ibv_qp_attr attributes{};
  attributes.qp_state = IBV_QPS_RTR;
  modify(pair_.get(), attributes, IBV_QP_STATE, "connecting a queue pair");
  attributes.qp_state = IBV_QPS_RTS;
  attributes.sq_psn = first_packet_;
  modify(pair_.get(), attributes, IBV_QP_STATE | IBV_QP_SQ_PSN, "opening a queue pair");
}

void QueuePair::arm() {
  if (armed_) return;
  require_done(ibv_req_notify_cq(completions_.get(), 0), "asking for an event");
  armed_ = true;
}

bool QueuePair::await_event(int limit_ms) {
  pollfd waiting{channel_->fd, POLLIN, 0};
  if (::poll(&waiting, 1, limit_ms) <= 0) return false;  // an interruption counts as a look in vain
  ibv_cq* queue = nullptr;
  void* context = nullptr;
  require_done(library().get_cq_event(channel_.get(), &queue, &context), "waiting for an event");
  library().ack_cq_events(queue, 1);
  armed_ = false;
  return true;
}

}  // namespace chiplog::verbs
