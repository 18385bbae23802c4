// Calls that make and free communicators.
#include <tuple>

#include "tracer/describe.hpp"

namespace chiplog::tracer {
namespace {

// The first argument is the communicator that another one is made from, the last one is where that is found.
struct MakeCommunicator {
  static void after(Described& call, MPI_Comm from, auto... others) {
    call.in(from);
    const auto all = std::tuple(others...);
    const MPI_Comm made = *std::get<sizeof...(others) - 1>(all);
    if (made != MPI_COMM_NULL) static_cast<void>(group_of(call.stream, made));
  }
};
// One that exists once the request is completed; it is described when it is used.
struct MakeLater {
  static void after(Described& call, MPI_Comm from, auto... others) {
    call.in(from);
    const auto all = std::tuple(others...);
    call.makes(*std::get<sizeof...(others) - 1>(all), false, false);
  }
};
struct Free {
  static void before(Described& call, MPI_Comm* communicator) {
    if (communicator == nullptr || *communicator == MPI_COMM_NULL) return;
    call.in(*communicator);
    forget(*communicator);
  }
  static void after(Described&, MPI_Comm*) {}
};
struct FreeType {
  static void before(Described&, MPI_Datatype*) { forget_types(); }
  static void after(Described&, MPI_Datatype*) {}
};

}  // namespace
}  // namespace chiplog::tracer

using namespace chiplog::tracer;

CHIPLOG_CALL(Comm_dup, 2, comm_dup, COMM_DUP, MakeCommunicator)
CHIPLOG_CALL(Comm_dup_with_info, 3, comm_dup_with_info, COMM_DUP_WITH_INFO, MakeCommunicator)
CHIPLOG_CALL(Comm_idup, 3, comm_idup, COMM_IDUP, MakeLater)
CHIPLOG_CALL(Comm_split, 4, comm_split, COMM_SPLIT, MakeCommunicator)
CHIPLOG_CALL(Comm_split_type, 5, comm_split_type, COMM_SPLIT_TYPE, MakeCommunicator)
CHIPLOG_CALL(Comm_create, 3, comm_create, COMM_CREATE, MakeCommunicator)
CHIPLOG_CALL(Comm_create_group, 4, comm_create_group, COMM_CREATE_GROUP, MakeCommunicator)
CHIPLOG_CALL(Cart_create, 6, cart_create, CART_CREATE, MakeCommunicator)
CHIPLOG_CALL(Cart_sub, 3, cart_sub, CART_SUB, MakeCommunicator)
CHIPLOG_CALL(Graph_create, 6, graph_create, GRAPH_CREATE, MakeCommunicator)
CHIPLOG_CALL(Dist_graph_create, 9, dist_graph_create, DIST_GRAPH_CREATE, MakeCommunicator)
CHIPLOG_CALL(Dist_graph_create_adjacent, 10, dist_graph_create_adjacent, DIST_GRAPH_CREATE_ADJACENT, MakeCommunicator)
CHIPLOG_CALL(Intercomm_create, 6, intercomm_create, INTERCOMM_CREATE, MakeCommunicator)
CHIPLOG_CALL(Intercomm_merge, 3, intercomm_merge, INTERCOMM_MERGE, MakeCommunicator)
CHIPLOG_CALL(Comm_free, 1, comm_free, COMM_FREE, Free)
CHIPLOG_CALL(Comm_disconnect, 1, comm_disconnect, COMM_DISCONNECT, Free)
CHIPLOG_CALL(Type_free, 1, type_free, TYPE_FREE, FreeType)
CHIPLOG_CALL(Cancel, 1, cancel, CANCEL, Timed)
CHIPLOG_CALL(Request_get_status, 3, request_get_status, REQUEST_GET_STATUS, Timed)
