// libibverbs, found when the probe runs.
#pragma once

#include <infiniband/verbs.h>

#include <cerrno>
#include <memory>
#include <string>

namespace chiplog::verbs {

// The exported functions that are used. What a message's path calls (ibv_post_send, ibv_poll_cq) is inline and needs no
// library: it goes through the opened device.
struct Library {
  decltype(::ibv_get_device_list)* get_device_list;
  decltype(::ibv_free_device_list)* free_device_list;
  decltype(::ibv_get_device_name)* get_device_name;
  decltype(::ibv_open_device)* open_device;
  decltype(::ibv_close_device)* close_device;
  decltype(::ibv_query_device)* query_device;
  decltype(::ibv_query_port)* query_port;
  decltype(::ibv_query_gid)* query_gid;
  decltype(::ibv_alloc_pd)* alloc_pd;
  decltype(::ibv_dealloc_pd)* dealloc_pd;
  decltype(::ibv_reg_mr)* reg_mr;
  decltype(::ibv_dereg_mr)* dereg_mr;
  decltype(::ibv_create_comp_channel)* create_comp_channel;
  decltype(::ibv_destroy_comp_channel)* destroy_comp_channel;
  decltype(::ibv_create_cq)* create_cq;
  decltype(::ibv_destroy_cq)* destroy_cq;
  decltype(::ibv_get_cq_event)* get_cq_event;
  decltype(::ibv_ack_cq_events)* ack_cq_events;
  decltype(::ibv_create_qp)* create_qp;
  decltype(::ibv_modify_qp)* modify_qp;
  decltype(::ibv_destroy_qp)* destroy_qp;
  decltype(::ibv_create_ah)* create_ah;
  decltype(::ibv_destroy_ah)* destroy_ah;
  decltype(::ibv_wc_status_str)* wc_status_str;
};

// The first call loads it. Throws Error where it is missing.
[[nodiscard]] const Library& library();

// Gives an object back to libibverbs, which made it.
template <class T>
using Owned = std::unique_ptr<T, int (*)(T*)>;

// Throws an Error that names `what` unless `error_number` is 0.
void require_done(int error_number, const std::string& what);
[[noreturn]] void throw_failed(const std::string& what, int error_number);

// Returns `made`. Throws an Error that names `what` and the system's reason if it is null.
template <class T>
Owned<T> owned(T* made, int (*destroy)(T*), const std::string& what) {
  if (made == nullptr) throw_failed(what, errno);
  return {made, destroy};
}

}  // namespace chiplog::verbs
