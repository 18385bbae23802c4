// Messages between two ranks.
#include "tracer/describe.hpp"

namespace chiplog::tracer {
namespace {

struct Exchange {
  static void after(Described& call, const void*, auto count, MPI_Datatype type, int to, int tag, const void*, auto,
                    MPI_Datatype, int, int, MPI_Comm comm, MPI_Status* status) {
    SendMessage::after(call, nullptr, count, type, to, tag, comm);
    call.has_second = true;
    call.second = *status;
  }
};

struct ExchangeInPlace {
  static void after(Described& call, void*, auto count, MPI_Datatype type, int to, int tag, int, int, MPI_Comm comm,
                    MPI_Status* status) {
    SendMessage::after(call, nullptr, count, type, to, tag, comm);
    call.has_second = true;
    call.second = *status;
  }
};

// One request for both messages, of which the first is described.
struct StartExchange {
  static void after(Described& call, const void*, auto count, MPI_Datatype type, int to, int tag, const void*, auto,
                    MPI_Datatype, int, int, MPI_Comm comm) {
    SendMessage::after(call, nullptr, count, type, to, tag, comm);
  }
};
struct StartExchangeInPlace {
  static void after(Described& call, void*, auto count, MPI_Datatype type, int to, int tag, int, int, MPI_Comm comm) {
    SendMessage::after(call, nullptr, count, type, to, tag, comm);
  }
};

struct Probe {
  static void after(Described& call, int, int, MPI_Comm comm, MPI_Status* status) {
    call.in(comm);
    call.matched(*status);
    call.received_bytes = 0;
  }
};
struct TryProbe {
  static void after(Described& call, int source, int tag, MPI_Comm comm, const int* flag, MPI_Status* status) {
    call.in(comm);
    if (*flag != 0) {
      call.with(status->MPI_SOURCE, status->MPI_TAG);
    } else {
      call.with(source, tag);
    }
  }
};
struct MatchedProbe {
  static void after(Described& call, int source, int tag, MPI_Comm comm, MPI_Message*, MPI_Status* status) {
    Probe::after(call, source, tag, comm, status);
    call.stream.matched_in = call.communicator;
  }
};
struct TryMatchedProbe {
  static void after(Described& call, int source, int tag, MPI_Comm comm, int* flag, MPI_Message*, MPI_Status* status) {
    TryProbe::after(call, source, tag, comm, flag, status);
    if (*flag != 0) call.stream.matched_in = call.communicator;
  }
};
// Of a message that this thread has matched last: MPI does not tell a message's communicator.
struct ReceiveMatched {
  static void after(Described& call, void*, auto, MPI_Datatype, MPI_Message*, MPI_Status* status) {
    call.communicator = call.stream.matched_in;
    call.matched(*status);
  }
};
struct StartReceiveMatched {
  static void after(Described& call, void*, auto count, MPI_Datatype type, MPI_Message*, MPI_Request* request) {
    call.communicator = call.stream.matched_in;
    call.with(MPI_ANY_SOURCE, MPI_ANY_TAG);
    call.received_bytes = call.stream.bytes_of(count, type);
    call.makes(*request, false, true);
  }
};

}  // namespace
}  // namespace chiplog::tracer

using namespace chiplog::tracer;

CHIPLOG_CALL(Send, 6, send, SEND, SendMessage)
CHIPLOG_CALL(Bsend, 6, bsend, BSEND, SendMessage)
CHIPLOG_CALL(Ssend, 6, ssend, SSEND, SendMessage)
CHIPLOG_CALL(Rsend, 6, rsend, RSEND, SendMessage)
CHIPLOG_CALL(Recv, 7, recv, RECV, Receive)
CHIPLOG_CALL(Isend, 7, isend, ISEND, Starting<SendMessage>)
CHIPLOG_CALL(Ibsend, 7, ibsend, IBSEND, Starting<SendMessage>)
CHIPLOG_CALL(Issend, 7, issend, ISSEND, Starting<SendMessage>)
CHIPLOG_CALL(Irsend, 7, irsend, IRSEND, Starting<SendMessage>)
CHIPLOG_CALL(Irecv, 7, irecv, IRECV, StartReceive)
CHIPLOG_CALL(Send_init, 7, send_init, SEND_INIT, Preparing<SendMessage>)
CHIPLOG_CALL(Bsend_init, 7, bsend_init, BSEND_INIT, Preparing<SendMessage>)
CHIPLOG_CALL(Ssend_init, 7, ssend_init, SSEND_INIT, Preparing<SendMessage>)
CHIPLOG_CALL(Rsend_init, 7, rsend_init, RSEND_INIT, Preparing<SendMessage>)
CHIPLOG_CALL(Recv_init, 7, recv_init, RECV_INIT, PrepareReceive)
CHIPLOG_CALL(Sendrecv, 12, sendrecv, SENDRECV, Exchange)
CHIPLOG_CALL(Sendrecv_replace, 9, sendrecv_replace, SENDRECV_REPLACE, ExchangeInPlace)
CHIPLOG_CALL(Probe, 4, probe, PROBE, Probe)
CHIPLOG_CALL(Iprobe, 5, iprobe, IPROBE, TryProbe)
CHIPLOG_CALL(Mprobe, 5, mprobe, MPROBE, MatchedProbe)
CHIPLOG_CALL(Improbe, 6, improbe, IMPROBE, TryMatchedProbe)
CHIPLOG_CALL(Mrecv, 5, mrecv, MRECV, ReceiveMatched)
CHIPLOG_CALL(Imrecv, 5, imrecv, IMRECV, StartReceiveMatched)

CHIPLOG_LARGE_CALL(Send, 6, SendMessage)
CHIPLOG_LARGE_CALL(Bsend, 6, SendMessage)
CHIPLOG_LARGE_CALL(Ssend, 6, SendMessage)
CHIPLOG_LARGE_CALL(Rsend, 6, SendMessage)
CHIPLOG_LARGE_CALL(Recv, 7, Receive)
CHIPLOG_LARGE_CALL(Isend, 7, Starting<SendMessage>)
CHIPLOG_LARGE_CALL(Ibsend, 7, Starting<SendMessage>)
CHIPLOG_LARGE_CALL(Issend, 7, Starting<SendMessage>)
CHIPLOG_LARGE_CALL(Irsend, 7, Starting<SendMessage>)
CHIPLOG_LARGE_CALL(Irecv, 7, StartReceive)
CHIPLOG_LARGE_CALL(Send_init, 7, Preparing<SendMessage>)
CHIPLOG_LARGE_CALL(Bsend_init, 7, Preparing<SendMessage>)
CHIPLOG_LARGE_CALL(Ssend_init, 7, Preparing<SendMessage>)
CHIPLOG_LARGE_CALL(Rsend_init, 7, Preparing<SendMessage>)
CHIPLOG_LARGE_CALL(Recv_init, 7, PrepareReceive)
CHIPLOG_LARGE_CALL(Sendrecv, 12, Exchange)
CHIPLOG_LARGE_CALL(Sendrecv_replace, 9, ExchangeInPlace)
CHIPLOG_LARGE_CALL(Mrecv, 5, ReceiveMatched)
CHIPLOG_LARGE_CALL(Imrecv, 5, StartReceiveMatched)

#if MPI_VERSION >= 4 || (defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION >= 5)
namespace chiplog::tracer {
namespace {

struct PrepareParts {
  static void after(Described& call, const void*, int parts, MPI_Count count, MPI_Datatype type, int to, int tag,
                    MPI_Comm comm) {
    SendMessage::after(call, nullptr, parts * count, type, to, tag, comm);
  }
};
struct PrepareReceivedParts {
  static void after(Described& call, const void*, int parts, MPI_Count count, MPI_Datatype type, int from, int tag,
                    MPI_Comm comm) {
    PostReceive::after(call, nullptr, parts * count, type, from, tag, comm);
  }
};

}  // namespace
}  // namespace chiplog::tracer

CHIPLOG_CALL(Isendrecv, 12, isendrecv, ISENDRECV, Starting<StartExchange>)
CHIPLOG_CALL(Isendrecv_replace, 9, isendrecv_replace, ISENDRECV_REPLACE, Starting<StartExchangeInPlace>)
CHIPLOG_CALL(Psend_init, 9, psend_init, PSEND_INIT, PreparingWithInfo<PrepareParts>)
CHIPLOG_CALL(Precv_init, 9, precv_init, PRECV_INIT, PreparingWithInfo<PrepareReceivedParts>)
CHIPLOG_CALL(Pready, 2, pready, PREADY, Timed)
CHIPLOG_CALL(Pready_range, 3, pready_range, PREADY_RANGE, Timed)
CHIPLOG_CALL(Pready_list, 3, pready_list, PREADY_LIST, Timed)
CHIPLOG_CALL(Parrived, 3, parrived, PARRIVED, Timed)
#endif
