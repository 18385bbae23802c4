// Calls that make and free communicators.
#include <cstddef>
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
// From groups: it is named itself, since no other one takes part.
struct MakeFromGroups {
  static void after(Described& call, MPI_Group, auto... others) {
    const auto all = std::tuple(others...);
    call.in(*std::get<sizeof...(others) - 1>(all));
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

#ifdef MPI_SESSION_NULL
static const Kind kind_of_Comm_create_from_group = add_kind("Comm_create_from_group");
static const Kind kind_of_Intercomm_create_from_groups = add_kind("Intercomm_create_from_groups");
CHIPLOG_IN_C(Comm_create_from_group, Comm_create_from_group, 5, MakeFromGroups)
CHIPLOG_IN_C(Intercomm_create_from_groups, Intercomm_create_from_groups, 8, MakeFromGroups)

namespace chiplog::tracer {
namespace {

using FromGroupInFortran = void(void*, void*, void*, void*, void*, MPI_Fint*, std::size_t);

// The tag is a string of Fortran's, whose length comes last.
void create_from_group(void* next, void* group, void* tag, void* info, void* handler, void* made, MPI_Fint* error,
                       std::size_t length) {
  if (next == nullptr) return;
  MPI_Fint own_error = MPI_SUCCESS;
  Stream* const stream = Stream::enter();
  const Ticks begin = ticks_now();
  reinterpret_cast<FromGroupInFortran*>(next)(group, tag, info, handler, made, &own_error, length);
  const Ticks end = ticks_now();
  if (stream != nullptr) {
    Described call(*stream);
    call.kind = kind_of_Comm_create_from_group;
    if (own_error == MPI_SUCCESS) call.in(FortranArgument<MPI_Comm>(made).in_c());
    record(call, begin, end);
    stream->leave();
  }
  if (error != nullptr) *error = own_error;
}

}  // namespace
}  // namespace chiplog::tracer

#define CHIPLOG_F_FROM_GROUP(SYMBOL)                                                                   \
  extern "C" CHIPLOG_EXPORT void SYMBOL(void* group, void* tag, void* info, void* handler, void* made, \
                                        MPI_Fint* error, std::size_t length) {                         \
    create_from_group(dlsym(RTLD_NEXT, #SYMBOL), group, tag, info, handler, made, error, length);      \
  }
CHIPLOG_F_FROM_GROUP(mpi_comm_create_from_group)
CHIPLOG_F_FROM_GROUP(mpi_comm_create_from_group_)
CHIPLOG_F_FROM_GROUP(mpi_comm_create_from_group__)
CHIPLOG_F_FROM_GROUP(MPI_COMM_CREATE_FROM_GROUP)
CHIPLOG_F_FROM_GROUP(mpi_comm_create_from_group_f08_)
CHIPLOG_F_FROM_GROUP(mpi_comm_create_from_group_f08ts_)
#endif
