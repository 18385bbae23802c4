// Calls that complete, start or free requests, for C and Fortran. Handles are read before the MPI takes them away.
#pragma once

#include <span>
#include <vector>

#include "tracer/call.hpp"

namespace chiplog::tracer {

// Requests and statuses as C passes them, and as Fortran does; indices count from `first_index`.
struct InC {
  using Request = MPI_Request;
  using Status = MPI_Status;
  static constexpr int first_index = 0;
  static RequestKey key(MPI_Request request) { return request == MPI_REQUEST_NULL ? 0 : key_of(request); }
  static bool ignores(const MPI_Status* status) { return status == MPI_STATUS_IGNORE || status == MPI_STATUSES_IGNORE; }
  static const MPI_Status& status_at(const MPI_Status* statuses, std::size_t at, MPI_Status&) { return statuses[at]; }
};
struct InFortran {
  using Request = MPI_Fint;
  static constexpr std::size_t words = sizeof(MPI_Status) / sizeof(MPI_Fint);
  struct Status {
    MPI_Fint words[InFortran::words];
  };
  static constexpr int first_index = 1;
  static RequestKey key(MPI_Fint request) { return InC::key(PMPI_Request_f2c(request)); }
  static bool ignores(const Status* status) { return is_ignored(status); }
  static const MPI_Status& status_at(const Status* statuses, std::size_t at, MPI_Status& in_c) {
    PMPI_Status_f2c(statuses[at].words, &in_c);
    return in_c;
  }
};

// An array on the stack where it is short.
template <class T>
class Array {
 public:
  explicit Array(std::size_t count) {
    if (count > few) many_.resize(count);
  }
  T* data() { return many_.empty() ? first_ : many_.data(); }

 private:
  static constexpr std::size_t few = 32;
  T first_[few];
  std::vector<T> many_;
};

// The requests that a call completes, in their order.
class Completed {
 public:
  explicit Completed(std::size_t most) : others_(most), numbers_(most) {}

  // With its status, where there is one.
  void add(const Posted& posted, const MPI_Status* status) {
    numbers_.data()[count_] = posted.number;
    if (posted.is_receive && status != nullptr) keep(posted, *status);
    ++count_;
  }
  void write(Stream& stream, Kind kind, Ticks begin, Ticks end) {
    Call call;
    call.kind = kind;
    call.requests = {numbers_.data(), count_};
    stream.write(call, begin, end);
    for (std::size_t i = 0; i < other_count_; ++i) {
      const Received& one = others_.data()[i];
      stream.write_status(one.request, one.source, one.tag, one.bytes);
    }
  }

 private:
  struct Received {
    std::uint32_t request;
    std::int32_t source;
    std::int32_t tag;
    std::uint64_t bytes;
  };

  // Keeps what was received only where it is not what the receive was posted for.
  void keep(const Posted& posted, const MPI_Status& status) {
    const std::int32_t source = trace_peer(status.MPI_SOURCE);
    const std::uint64_t bytes = received_bytes(status);
    if (source < 0 || (posted.peer == source && posted.tag == status.MPI_TAG && posted.bytes == bytes)) return;
    int is_cancelled = 0;
    PMPI_Test_cancelled(&status, &is_cancelled);
    if (is_cancelled != 0) return;
    others_.data()[other_count_++] = {posted.number, source, status.MPI_TAG, bytes};
  }

  Array<Received> others_;
  Array<std::uint32_t> numbers_;
  std::size_t count_ = 0;
  std::size_t other_count_ = 0;
};

// Calls `next` with statuses of ours where the program ignores them.
template <class Language>
class Completing {
 public:
  using Request = typename Language::Request;
  using Status = typename Language::Status;

  Completing(Stream& stream, Kind kind, std::size_t count, Request* requests, Status* statuses)
      : stream_(stream),
        kind_(kind),
        count_(count),
        own_(Language::ignores(statuses) ? count : 0),
        keys_(count),
        completed_(count),
        statuses_(Language::ignores(statuses) ? own_.data() : statuses) {
    for (std::size_t i = 0; i < count; ++i) keys_.data()[i] = Language::key(requests[i]);
  }

  // `call` with the statuses; then `tell` names the requests that it has completed.
  template <class Run, class Tell>
  int run(Run call, Tell tell) {
    const Ticks begin = ticks_now();
    const int error = call(statuses_);
    const Ticks end = ticks_now();
    if (error == MPI_SUCCESS) tell(*this);
    completed_.write(stream_, kind_, begin, end);
    stream_.leave();
    return error;
  }
  void all() {
    for (std::size_t i = 0; i < count_; ++i) one(i, i);
  }
  // The request at an index, with the status at another one.
  void one(std::size_t index, std::size_t status_index) {
    Posted posted;
    if (index >= count_ || keys_.data()[index] == 0 || !Requests::complete(keys_.data()[index], noted_, posted)) return;
    MPI_Status in_c{};
    completed_.add(posted, &Language::status_at(statuses_, status_index, in_c));
  }

 private:
  Stream& stream_;
  Kind kind_;
  std::size_t count_;
  Array<Status> own_;
  Array<RequestKey> keys_;
  RequestOrder noted_ = Requests::noted();
  Completed completed_;
  Status* statuses_;
};

constexpr std::size_t size(int count) { return count > 0 ? static_cast<std::size_t>(count) : 0; }

template <class Language>
using For = Completing<Language>;
template <class Language>
using R = typename Language::Request;
template <class Language>
using S = typename Language::Status;

inline const Kind kind_of_Wait = add_kind("Wait");
inline const Kind kind_of_Test = add_kind("Test");
inline const Kind kind_of_Waitall = add_kind("Waitall");
inline const Kind kind_of_Testall = add_kind("Testall");
inline const Kind kind_of_Waitany = add_kind("Waitany");
inline const Kind kind_of_Testany = add_kind("Testany");
inline const Kind kind_of_Waitsome = add_kind("Waitsome");
inline const Kind kind_of_Testsome = add_kind("Testsome");
inline const Kind kind_of_Start = add_kind("Start");
inline const Kind kind_of_Startall = add_kind("Startall");
inline const Kind kind_of_Request_free = add_kind("Request_free");

template <class L>
int wait(auto next, R<L>* request, S<L>* status) {
  Stream* const stream = Stream::enter();
  if (stream == nullptr) return next(request, status);
  For<L> call(*stream, kind_of_Wait, 1, request, status);
  return call.run([&](S<L>* kept) { return next(request, kept); }, [](auto& made) { made.all(); });
}
template <class L>
int test(auto next, R<L>* request, int* flag, S<L>* status) {
  Stream* const stream = Stream::enter();
  if (stream == nullptr) return next(request, flag, status);
  For<L> call(*stream, kind_of_Test, 1, request, status);
  return call.run([&](S<L>* kept) { return next(request, flag, kept); },
                  [&](auto& made) {
                    if (*flag != 0) made.all();
                  });
}
template <class L>
int wait_all(auto next, int count, R<L>* requests, S<L>* statuses) {
  Stream* const stream = Stream::enter();
  if (stream == nullptr) return next(count, requests, statuses);
  For<L> call(*stream, kind_of_Waitall, size(count), requests, statuses);
  return call.run([&](S<L>* kept) { return next(count, requests, kept); }, [](auto& made) { made.all(); });
}
template <class L>
int test_all(auto next, int count, R<L>* requests, int* flag, S<L>* statuses) {
  Stream* const stream = Stream::enter();
  if (stream == nullptr) return next(count, requests, flag, statuses);
  For<L> call(*stream, kind_of_Testall, size(count), requests, statuses);
  return call.run([&](S<L>* kept) { return next(count, requests, flag, kept); },
                  [&](auto& made) {
                    if (*flag != 0) made.all();
                  });
}
template <class L>
void tell_one(For<L>& made, int index) {
  if (index != MPI_UNDEFINED && index >= L::first_index) made.one(size(index - L::first_index), 0);
}
template <class L>
int wait_any(auto next, int count, R<L>* requests, int* index, S<L>* status) {
  Stream* const stream = Stream::enter();
  if (stream == nullptr) return next(count, requests, index, status);
  For<L> call(*stream, kind_of_Waitany, size(count), requests, status);
  return call.run([&](S<L>* kept) { return next(count, requests, index, kept); },
                  [&](auto& made) { tell_one<L>(made, *index); });
}
template <class L>
int test_any(auto next, int count, R<L>* requests, int* index, int* flag, S<L>* status) {
  Stream* const stream = Stream::enter();
  if (stream == nullptr) return next(count, requests, index, flag, status);
  For<L> call(*stream, kind_of_Testany, size(count), requests, status);
  return call.run([&](S<L>* kept) { return next(count, requests, index, flag, kept); },
                  [&](auto& made) {
                    if (*flag != 0) tell_one<L>(made, *index);
                  });
}
template <class L>
int some(Kind kind, auto next, int count, R<L>* requests, int* done, int* indices, S<L>* statuses) {
  Stream* const stream = Stream::enter();
  if (stream == nullptr) return next(count, requests, done, indices, statuses);
  For<L> call(*stream, kind, size(count), requests, statuses);
  return call.run([&](S<L>* kept) { return next(count, requests, done, indices, kept); },
                  [&](auto& made) {
                    if (*done == MPI_UNDEFINED) return;
                    for (std::size_t i = 0; i < size(*done); ++i) made.one(size(indices[i] - L::first_index), i);
                  });
}

template <class L>
int start(auto next, R<L>* request) {
  Stream* const stream = Stream::enter();
  if (stream == nullptr) return next(request);
  const RequestKey key = L::key(*request);
  const Ticks begin = ticks_now();
  const int error = next(request);
  const Ticks end = ticks_now();
  Posted posted;
  Call call;
  call.kind = kind_of_Start;
  call.starts = error == MPI_SUCCESS && Requests::find_prepared(key, posted);
  if (call.starts) call.requests = {&posted.prepared, 1};
  const std::uint32_t number = stream->write(call, begin, end);
  if (call.starts) Requests::start(key, number);
  stream->leave();
  return error;
}
template <class L>
int start_all(auto next, int count, R<L>* requests) {
  Stream* const stream = Stream::enter();
  if (stream == nullptr) return next(count, requests);
  const Ticks begin = ticks_now();
  const int error = next(count, requests);
  const Ticks end = ticks_now();
  Call call;
  call.kind = kind_of_Startall;
  stream->write(call, begin, end);
  for (std::size_t i = 0; i < size(count) && error == MPI_SUCCESS; ++i) {
    const RequestKey key = L::key(requests[i]);
    Posted posted;
    if (!Requests::find_prepared(key, posted)) continue;
    Call started;
    started.kind = extra::started;
    started.starts = true;
    started.requests = {&posted.prepared, 1};
    Requests::start(key, stream->write(started, end, end));
  }
  stream->leave();
  return error;
}
template <class L>
int request_free(auto next, R<L>* request) {
  Stream* const stream = Stream::enter();
  if (stream == nullptr) return next(request);
  const RequestKey key = L::key(*request);
  const RequestOrder noted = Requests::noted();
  const Ticks begin = ticks_now();
  const int error = next(request);
  const Ticks end = ticks_now();
  Completed completed(1);
  Posted posted;
  bool was_active = false;
  if (error == MPI_SUCCESS && Requests::remove(key, noted, posted, was_active) && was_active)
    completed.add(posted, nullptr);
  completed.write(*stream, kind_of_Request_free, begin, end);
  stream->leave();
  return error;
}

}  // namespace chiplog::tracer
