// From the first call that starts MPI to the last one that ends it: the file, the clocks, and these calls. MPI_Init and
// MPI_Finalize are among them, and those of sessions, which may begin again.
#include <mpi.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cstdarg>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string>
#include <string_view>

#include "tracer/call.hpp"
#include "tracer/file.hpp"
#include "tracer/kinds.hpp"
#include "tracer/offsets.hpp"
#include "tracer/world.hpp"

namespace chiplog::tracer {
namespace {

const Kind kind_of_Init = add_kind("Init");
const Kind kind_of_Init_thread = add_kind("Init_thread");
const Kind kind_of_Finalize = add_kind("Finalize");
#ifdef MPI_SESSION_NULL
const Kind kind_of_Session_init = add_kind("Session_init");
const Kind kind_of_Session_finalize = add_kind("Session_finalize");
#endif
const Kind kind_of_Abort = add_kind("Abort");
const Kind kind_of_Pcontrol = add_kind("Pcontrol");

ClockOffsets offsets;

void fill_header(FileHeader& header, int rank, int ranks) {
  std::memcpy(header.magic, file_magic, sizeof header.magic);
  header.version = format_version;
  header.header_bytes = static_cast<std::uint32_t>(header_bytes);
  header.block_bytes = static_cast<std::uint32_t>(block_bytes);
  header.rank = rank;
  header.ranks = ranks;
  header.clock_leader = unknown_leader;
  header.kernel = kernel_name();
  header.first = clocks_at_load;
  header.realtime_ns = clock_now_ns(CLOCK_REALTIME) - (clock_now_ns(CLOCK_MONOTONIC) - clocks_at_load.monotonic_ns);
  gethostname(header.host, sizeof header.host - 1);
  cpu_set_t processors;
  static_assert(sizeof processors == sizeof header.processors);
  if (sched_getaffinity(0, sizeof processors, &processors) == 0)
    std::memcpy(header.processors, &processors, sizeof processors);
  char text[MPI_MAX_LIBRARY_VERSION_STRING] = "";
  int length = 0;
  PMPI_Get_library_version(text, &length);
  const std::string_view name = std::string_view(text).substr(0, std::string_view(text).find_first_of(",(\n"));
  std::size_t used = 0;
  for (const char letter : name) {
    const bool is_space = letter == ' ' || letter == '\t';
    if (is_space && (used == 0 || header.mpi[used - 1] == ' ')) continue;
    if (used < sizeof header.mpi - 1) header.mpi[used++] = is_space ? ' ' : letter;
  }
  if (used > 0 && header.mpi[used - 1] == ' ') header.mpi[used - 1] = '\0';
  write_kinds();
}

// The handles of another family of MPIs can't be read.
void end_under_other_mpi() {
#ifdef OPEN_MPI
  constexpr bool is_open_mpi = true;
#else
  constexpr bool is_open_mpi = false;
#endif
  char text[MPI_MAX_LIBRARY_VERSION_STRING] = "";
  int length = 0;
  if (PMPI_Get_library_version(text, &length) != MPI_SUCCESS) return;
  if (std::string_view(text).starts_with("Open MPI") == is_open_mpi) return;
  say(std::string("the tracer was built for ") + (is_open_mpi ? "Open MPI" : "MPICH or its kin") +
      ", but the program runs under another MPI: name that one's C++ compiler with --mpi.");
  std::_Exit(EXIT_FAILURE);
}

// Other worlds, which MPI_Comm_spawn has made, have ranks of the same numbers: they are left out.
bool is_spawned() {
  MPI_Comm parent = MPI_COMM_NULL;
  return PMPI_Comm_get_parent(&parent) == MPI_SUCCESS && parent != MPI_COMM_NULL;
}

void write_simple(Kind kind, Ticks begin, Ticks end, int tag = 0) {
  Stream* const stream = Stream::enter();
  if (stream == nullptr) return;
  Call call;
  call.kind = kind;
  if (tag != 0) {
    call.peer = nobody;
    call.tag = tag;
  }
  stream->write(call, begin, end);
  stream->leave();
}

constinit std::mutex recording_lock;

// Makes the file, or goes on with it where MPI begins again. Ranks are those of the launch.
void begin_recording() {
  const std::lock_guard guard(recording_lock);
  if (is_recording) return;
  const char* const folder = std::getenv("CHIPLOG_TRACE");
  if (folder == nullptr || *folder == '\0') return;
  if (!trace_file.is_open()) {
    MPI_Group all = launched_ranks();
    if (all == MPI_GROUP_NULL) return say("no trace is recorded: this MPI does not say which ranks were launched.");
    int rank = 0;
    int ranks = 1;
    PMPI_Group_rank(all, &rank);
    PMPI_Group_size(all, &ranks);
    PMPI_Group_free(&all);
    if (!trace_file.create(std::string(folder) + "/rank-" + std::to_string(rank) + ".trace")) return;
    fill_header(trace_file.header(), rank, ranks);
  }
  trace_file.header().is_finalized = 0;
  is_recording = true;
}

// Unless MPI is still there.
void end_recording() {
  const std::lock_guard guard(recording_lock);
  if (is_anything_open()) return;
  is_recording = false;
  forget_all_communicators();
  trace_file.header().last = read_clocks();
  trace_file.header().is_finalized = 1;
}

// All ranks come here, so their clocks are compared.
void after_initialisation() {
  const char* const folder = std::getenv("CHIPLOG_TRACE");
  if (folder == nullptr || *folder == '\0' || is_spawned()) return;
  int level = MPI_THREAD_SINGLE;
  PMPI_Query_thread(&level);
  has_threads = has_threads || level == MPI_THREAD_MULTIPLE;
  offsets.begin();
  const ClockOffset offset = offsets.measure();
  begin_recording();
  if (!is_recording) return;
  trace_file.header().clock_leader = offsets.leader();
  trace_file.header().offset_at_init = offset;
}

void describe_predefined() {
  Stream* const stream = Stream::enter();
  if (stream == nullptr) return;
  static_cast<void>(group_of(*stream, MPI_COMM_WORLD));
  static_cast<void>(group_of(*stream, MPI_COMM_SELF));
  stream->leave();
}

void before_finalisation() {
  const ClockOffset offset = offsets.measure();
  if (trace_file.is_open()) trace_file.header().offset_at_finalize = offset;
  offsets.end();
}

// Whether this thread starts or ends MPI just now: functions in Fortran may call those in C.
thread_local bool is_within = false;

struct TimedCall {
  int error = MPI_SUCCESS;
  Ticks begin = 0;
  Ticks end = 0;
};

// Calls within the call are not recorded.
template <class Run>
TimedCall timed(Run run) {
  TimedCall call;
  Stream* const stream = Stream::enter();
  call.begin = ticks_now();
  call.error = run();
  call.end = ticks_now();
  if (stream != nullptr) stream->leave();
  return call;
}

void write_end(Kind kind, const TimedCall& call) {
  if (!is_recording) return;
  write_simple(kind, call.begin, call.end);
  end_recording();
}

template <class Run>
int initialised(Kind kind, Run run) {
  if (is_within) return run();
  is_within = true;
  end_under_other_mpi();
  const TimedCall call = timed(run);
  if (call.error == MPI_SUCCESS) {
    open_world();
    after_initialisation();
    write_simple(kind, call.begin, call.end);
    describe_predefined();
  }
  is_within = false;
  return call.error;
}

template <class Run>
int finalised(Run run) {
  if (is_within) return run();
  is_within = true;
  before_finalisation();
  close_world();
  const TimedCall call = timed(run);
  write_end(kind_of_Finalize, call);
  is_within = false;
  return call.error;
}

#ifdef MPI_SESSION_NULL
// `made` says which session there is after the call. Its threads may come, whatever MPI_Init has given; other ranks
// need not, so clocks are not compared.
template <class Run, class Made>
int session_opened(Run run, Made made) {
  if (is_within) return run();
  is_within = true;
  end_under_other_mpi();
  const TimedCall call = timed(run);
  if (call.error == MPI_SUCCESS) {
    open_session(made());
    has_threads = true;
    begin_recording();
    write_simple(kind_of_Session_init, call.begin, call.end);
  }
  is_within = false;
  return call.error;
}

template <class Run>
int session_closed(MPI_Session session, Run run) {
  if (is_within) return run();
  is_within = true;
  close_session(session);
  const TimedCall call = timed(run);
  if (call.error != MPI_SUCCESS) open_session(session);
  write_end(kind_of_Session_finalize, call);
  is_within = false;
  return call.error;
}
#endif

int in_fortran(void* function, auto*... arguments) {
  MPI_Fint error = MPI_SUCCESS;
  if (function != nullptr)
    reinterpret_cast<void (*)(decltype(arguments)..., MPI_Fint*)>(function)(arguments..., &error);
  return error;
}
void finish(MPI_Fint* error, int result) {
  if (error != nullptr) *error = result;
}

}  // namespace
}  // namespace chiplog::tracer

using namespace chiplog::tracer;

extern "C" {

CHIPLOG_EXPORT int MPI_Init(int* count, char*** arguments) {
  return initialised(kind_of_Init, [&] { return CHIPLOG_NEXT(Init)(count, arguments); });
}
CHIPLOG_EXPORT int MPI_Init_thread(int* count, char*** arguments, int required, int* provided) {
  return initialised(kind_of_Init_thread,
                     [&] { return CHIPLOG_NEXT(Init_thread)(count, arguments, required, provided); });
}
CHIPLOG_EXPORT int MPI_Finalize() {
  return finalised([] { return CHIPLOG_NEXT(Finalize)(); });
}
#ifdef MPI_SESSION_NULL
CHIPLOG_EXPORT int MPI_Session_init(MPI_Info info, MPI_Errhandler handler, MPI_Session* session) {
  return session_opened([&] { return CHIPLOG_NEXT(Session_init)(info, handler, session); }, [&] { return *session; });
}
CHIPLOG_EXPORT int MPI_Session_finalize(MPI_Session* session) {
  return session_closed(session == nullptr ? MPI_SESSION_NULL : *session,
                        [&] { return CHIPLOG_NEXT(Session_finalize)(session); });
}
#endif
CHIPLOG_EXPORT int MPI_Abort(MPI_Comm comm, int code) {
  const Ticks now = ticks_now();
  write_simple(kind_of_Abort, now, now, code);
  return CHIPLOG_NEXT(Abort)(comm, code);
}
CHIPLOG_EXPORT int MPI_Pcontrol(const int level, ...) {
  const Ticks begin = ticks_now();
  const int error = PMPI_Pcontrol(level);
  write_simple(kind_of_Pcontrol, begin, ticks_now(), level);
  return error;
}

#define CHIPLOG_F_INIT(SYMBOL)                                                  \
  CHIPLOG_EXPORT void SYMBOL(MPI_Fint* error) {                                 \
    void* const next = dlsym(RTLD_NEXT, #SYMBOL);                               \
    finish(error, initialised(kind_of_Init, [&] { return in_fortran(next); })); \
  }
#define CHIPLOG_F_INIT_THREAD(SYMBOL)                                                                      \
  CHIPLOG_EXPORT void SYMBOL(MPI_Fint* required, MPI_Fint* provided, MPI_Fint* error) {                    \
    void* const next = dlsym(RTLD_NEXT, #SYMBOL);                                                          \
    finish(error, initialised(kind_of_Init_thread, [&] { return in_fortran(next, required, provided); })); \
  }
#define CHIPLOG_F_FINALIZE(SYMBOL)                              \
  CHIPLOG_EXPORT void SYMBOL(MPI_Fint* error) {                 \
    void* const next = dlsym(RTLD_NEXT, #SYMBOL);               \
    finish(error, finalised([&] { return in_fortran(next); })); \
  }
#define CHIPLOG_F_SESSION_INIT(SYMBOL)                                                                \
  CHIPLOG_EXPORT void SYMBOL(MPI_Fint* info, MPI_Fint* handler, MPI_Fint* session, MPI_Fint* error) { \
    void* const next = dlsym(RTLD_NEXT, #SYMBOL);                                                     \
    finish(error, session_opened([&] { return in_fortran(next, info, handler, session); },            \
                                 [&] { return PMPI_Session_f2c(*session); }));                        \
  }
#define CHIPLOG_F_SESSION_FINALIZE(SYMBOL)                                                                \
  CHIPLOG_EXPORT void SYMBOL(MPI_Fint* session, MPI_Fint* error) {                                        \
    void* const next = dlsym(RTLD_NEXT, #SYMBOL);                                                         \
    finish(error, session_closed(PMPI_Session_f2c(*session), [&] { return in_fortran(next, session); })); \
  }
#define CHIPLOG_F_ABORT(SYMBOL)                                                 \
  CHIPLOG_EXPORT void SYMBOL(MPI_Fint* comm, MPI_Fint* code, MPI_Fint* error) { \
    const Ticks now = ticks_now();                                              \
    write_simple(kind_of_Abort, now, now, *code);                               \
    finish(error, in_fortran(dlsym(RTLD_NEXT, #SYMBOL), comm, code));           \
  }
#define CHIPLOG_F_PCONTROL(SYMBOL)                    \
  CHIPLOG_EXPORT void SYMBOL(const MPI_Fint* level) { \
    const Ticks now = ticks_now();                    \
    write_simple(kind_of_Pcontrol, now, now, *level); \
  }
#define CHIPLOG_EACH_NAME(DEFINE, LOWER, UPPER) \
  DEFINE(mpi_##LOWER) DEFINE(mpi_##LOWER##_) DEFINE(mpi_##LOWER##__) DEFINE(MPI_##UPPER) DEFINE(mpi_##LOWER##_f08_)

CHIPLOG_EACH_NAME(CHIPLOG_F_INIT, init, INIT)
CHIPLOG_EACH_NAME(CHIPLOG_F_INIT_THREAD, init_thread, INIT_THREAD)
CHIPLOG_EACH_NAME(CHIPLOG_F_FINALIZE, finalize, FINALIZE)
#ifdef MPI_SESSION_NULL
CHIPLOG_EACH_NAME(CHIPLOG_F_SESSION_INIT, session_init, SESSION_INIT)
CHIPLOG_EACH_NAME(CHIPLOG_F_SESSION_FINALIZE, session_finalize, SESSION_FINALIZE)
#endif
CHIPLOG_EACH_NAME(CHIPLOG_F_ABORT, abort, ABORT)
CHIPLOG_EACH_NAME(CHIPLOG_F_PCONTROL, pcontrol, PCONTROL)
}
