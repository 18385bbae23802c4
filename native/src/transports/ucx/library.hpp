// The functions of UCX that chiplog calls, of the library that is found when the probe runs.
#pragma once

#include <ucp/api/ucp.h>

#include <string>
#include <string_view>

#include "chiplog/transport.hpp"
#include "core/shared_library.hpp"

namespace chiplog::ucx {

class Library {
 public:
  // Loads it. Error if there is none or if it is too old. What UCX says goes to standard error unless UCX_LOG_FILE says
  // otherwise: standard output belongs to the records.
  Library();

  // UCX's own text, such as "1.13.1".
  [[nodiscard]] std::string version() const { return get_version_string(); }
  [[nodiscard]] std::string text_of(ucs_status_t status) const { return status_string(status); }
  // Throws Error for a status that is not UCS_OK; `what` says what was tried.
  void check(ucs_status_t status, std::string_view what) const;

 private:
  SharedLibrary ucp_;
  SharedLibrary ucs_;

 public:
#define CHIPLOG_UCP_FUNCTION(name) decltype(&::ucp_##name) name = ucp_.function<decltype(::ucp_##name)>("ucp_" #name)
  CHIPLOG_UCP_FUNCTION(get_version);
  CHIPLOG_UCP_FUNCTION(get_version_string);
  CHIPLOG_UCP_FUNCTION(config_read);
  CHIPLOG_UCP_FUNCTION(config_modify);
  CHIPLOG_UCP_FUNCTION(config_release);
  CHIPLOG_UCP_FUNCTION(init_version);
  CHIPLOG_UCP_FUNCTION(cleanup);
  CHIPLOG_UCP_FUNCTION(worker_create);
  CHIPLOG_UCP_FUNCTION(worker_destroy);
  CHIPLOG_UCP_FUNCTION(worker_get_address);
  CHIPLOG_UCP_FUNCTION(worker_release_address);
  CHIPLOG_UCP_FUNCTION(worker_progress);
  CHIPLOG_UCP_FUNCTION(worker_fence);
  CHIPLOG_UCP_FUNCTION(worker_flush_nbx);
  CHIPLOG_UCP_FUNCTION(ep_create);
  CHIPLOG_UCP_FUNCTION(ep_print_info);
  CHIPLOG_UCP_FUNCTION(ep_rkey_unpack);
  CHIPLOG_UCP_FUNCTION(mem_map);
  CHIPLOG_UCP_FUNCTION(mem_unmap);
  CHIPLOG_UCP_FUNCTION(mem_query);
  CHIPLOG_UCP_FUNCTION(rkey_pack);
  CHIPLOG_UCP_FUNCTION(rkey_buffer_release);
  CHIPLOG_UCP_FUNCTION(rkey_destroy);
  CHIPLOG_UCP_FUNCTION(tag_send_nbx);
  CHIPLOG_UCP_FUNCTION(tag_recv_nbx);
  CHIPLOG_UCP_FUNCTION(tag_recv_request_test);
  CHIPLOG_UCP_FUNCTION(put_nbx);
  CHIPLOG_UCP_FUNCTION(get_nbx);
  CHIPLOG_UCP_FUNCTION(atomic_op_nbx);
  CHIPLOG_UCP_FUNCTION(request_check_status);
  CHIPLOG_UCP_FUNCTION(request_cancel);
  CHIPLOG_UCP_FUNCTION(request_free);
#undef CHIPLOG_UCP_FUNCTION

 private:
  decltype(&::ucs_status_string) status_string = ucs_.function<decltype(::ucs_status_string)>("ucs_status_string");
};

}  // namespace chiplog::ucx
