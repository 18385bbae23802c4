#include "transports/verbs/library.hpp"

#include "bootstrap/socket.hpp"
#include "chiplog/error.hpp"
#include "core/shared_library.hpp"

namespace chiplog::verbs {
namespace {

Library load() {
  const SharedLibrary found = SharedLibrary::open({"libibverbs.so.1"});
  Library library{};
  const auto take = [&](auto& function, const char* symbol) {
    function = found.function<std::remove_pointer_t<std::remove_reference_t<decltype(function)>>>(symbol);
  };
  take(library.get_device_list, "ibv_get_device_list");
  take(library.free_device_list, "ibv_free_device_list");
  take(library.get_device_name, "ibv_get_device_name");
  take(library.open_device, "ibv_open_device");
  take(library.close_device, "ibv_close_device");
  take(library.query_device, "ibv_query_device");
  take(library.query_port, "ibv_query_port");
  take(library.query_gid, "ibv_query_gid");
  take(library.alloc_pd, "ibv_alloc_pd");
  take(library.dealloc_pd, "ibv_dealloc_pd");
  take(library.reg_mr, "ibv_reg_mr");
  take(library.dereg_mr, "ibv_dereg_mr");
  take(library.create_comp_channel, "ibv_create_comp_channel");
  take(library.destroy_comp_channel, "ibv_destroy_comp_channel");
  take(library.create_cq, "ibv_create_cq");
  take(library.destroy_cq, "ibv_destroy_cq");
  take(library.get_cq_event, "ibv_get_cq_event");
  take(library.ack_cq_events, "ibv_ack_cq_events");
  take(library.create_qp, "ibv_create_qp");
  take(library.modify_qp, "ibv_modify_qp");
  take(library.destroy_qp, "ibv_destroy_qp");
  take(library.create_ah, "ibv_create_ah");
  take(library.destroy_ah, "ibv_destroy_ah");
  take(library.wc_status_str, "ibv_wc_status_str");
  return library;
}

}  // namespace

const Library& library() {
  static const Library loaded = load();
  return loaded;
}

void throw_failed(const std::string& what, int error_number) {
  throw Error(ExitCode::run_failed, "verbs: " + what + " failed: " + system_error_text(error_number));
}

void require_done(int error_number, const std::string& what) {
  if (error_number != 0) throw_failed(what, error_number < 0 ? errno : error_number);
}

}  // namespace chiplog::verbs
