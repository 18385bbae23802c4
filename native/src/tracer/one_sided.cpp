// One-sided communication: times and bytes.
#include "tracer/describe.hpp"

namespace chiplog::tracer {
namespace {

// From origin to target; ranks are those of the window's group, which is not asked for: the peer stays unknown.
struct Put {
  static void after(Described& call, const void*, auto count, MPI_Datatype type, int, auto...) {
    call.sent_bytes = call.stream.bytes_of(count, type);
  }
};
struct Get {
  static void after(Described& call, const void*, auto count, MPI_Datatype type, int, auto...) {
    call.received_bytes = call.stream.bytes_of(count, type);
  }
};
// There and back.
struct GetAccumulate {
  static void after(Described& call, const void*, auto count, MPI_Datatype type, void*, auto result_count,
                    MPI_Datatype result_type, auto...) {
    call.sent_bytes = call.stream.bytes_of(count, type);
    call.received_bytes = call.stream.bytes_of(result_count, result_type);
  }
};
struct FetchAndOp {
  static void after(Described& call, const void*, void*, MPI_Datatype type, auto...) {
    call.sent_bytes = call.received_bytes = call.stream.bytes_of(1, type);
  }
};
struct CompareAndSwap {
  static void after(Described& call, const void*, const void*, void*, MPI_Datatype type, auto...) {
    call.sent_bytes = call.received_bytes = call.stream.bytes_of(1, type);
  }
};
struct MakeWindow {
  static void after(Described& call, void*, MPI_Aint, int, MPI_Info, MPI_Comm comm, auto...) { call.in(comm); }
};
struct AllocateWindow {
  static void after(Described& call, MPI_Aint, int, MPI_Info, MPI_Comm comm, auto...) { call.in(comm); }
};
struct MakeDynamicWindow {
  static void after(Described& call, MPI_Info, MPI_Comm comm, auto...) { call.in(comm); }
};

}  // namespace
}  // namespace chiplog::tracer

using namespace chiplog::tracer;

CHIPLOG_CALL(Put, 8, put, PUT, Put)
CHIPLOG_CALL(Get, 8, get, GET, Get)
CHIPLOG_CALL(Accumulate, 9, accumulate, ACCUMULATE, Put)
CHIPLOG_CALL(Get_accumulate, 12, get_accumulate, GET_ACCUMULATE, GetAccumulate)
CHIPLOG_CALL(Fetch_and_op, 7, fetch_and_op, FETCH_AND_OP, FetchAndOp)
CHIPLOG_CALL(Compare_and_swap, 7, compare_and_swap, COMPARE_AND_SWAP, CompareAndSwap)
CHIPLOG_CALL(Rput, 9, rput, RPUT, Starting<Put>)
CHIPLOG_CALL(Rget, 9, rget, RGET, Starting<Get>)
CHIPLOG_CALL(Raccumulate, 10, raccumulate, RACCUMULATE, Starting<Put>)
CHIPLOG_CALL(Rget_accumulate, 13, rget_accumulate, RGET_ACCUMULATE, Starting<GetAccumulate>)
CHIPLOG_CALL(Win_create, 6, win_create, WIN_CREATE, MakeWindow)
CHIPLOG_CALL(Win_allocate, 6, win_allocate, WIN_ALLOCATE, AllocateWindow)
CHIPLOG_CALL(Win_allocate_shared, 6, win_allocate_shared, WIN_ALLOCATE_SHARED, AllocateWindow)
CHIPLOG_CALL(Win_create_dynamic, 3, win_create_dynamic, WIN_CREATE_DYNAMIC, MakeDynamicWindow)
CHIPLOG_CALL(Win_free, 1, win_free, WIN_FREE, Timed)
CHIPLOG_CALL(Win_fence, 2, win_fence, WIN_FENCE, Timed)
CHIPLOG_CALL(Win_lock, 4, win_lock, WIN_LOCK, Timed)
CHIPLOG_CALL(Win_lock_all, 2, win_lock_all, WIN_LOCK_ALL, Timed)
CHIPLOG_CALL(Win_unlock, 2, win_unlock, WIN_UNLOCK, Timed)
CHIPLOG_CALL(Win_unlock_all, 1, win_unlock_all, WIN_UNLOCK_ALL, Timed)
CHIPLOG_CALL(Win_flush, 2, win_flush, WIN_FLUSH, Timed)
CHIPLOG_CALL(Win_flush_all, 1, win_flush_all, WIN_FLUSH_ALL, Timed)
CHIPLOG_CALL(Win_flush_local, 2, win_flush_local, WIN_FLUSH_LOCAL, Timed)
CHIPLOG_CALL(Win_flush_local_all, 1, win_flush_local_all, WIN_FLUSH_LOCAL_ALL, Timed)
CHIPLOG_CALL(Win_sync, 1, win_sync, WIN_SYNC, Timed)
CHIPLOG_CALL(Win_post, 3, win_post, WIN_POST, Timed)
CHIPLOG_CALL(Win_start, 3, win_start, WIN_START, Timed)
CHIPLOG_CALL(Win_complete, 1, win_complete, WIN_COMPLETE, Timed)
CHIPLOG_CALL(Win_wait, 1, win_wait, WIN_WAIT, Timed)
CHIPLOG_CALL(Win_test, 2, win_test, WIN_TEST, Timed)
