#include "tracer/call.hpp"

namespace chiplog::tracer {

void record(const Described& call, Ticks begin, Ticks end) {
  const std::uint32_t number = call.stream.write(call, begin, end);
  if (call.has_second) {
    const std::int32_t source = trace_peer(call.second.MPI_SOURCE);
    const std::uint64_t bytes = source == nobody ? 0 : received_bytes(call.second);
    call.stream.write_receiving(source, trace_tag(call.second.MPI_TAG), bytes);
  }
  if (call.made == 0) return;
  Requests::add(call.made, {.number = number,
                            .prepared = number,
                            .peer = call.peer,
                            .tag = call.tag,
                            .bytes = call.received_bytes,
                            .is_receive = call.receives,
                            .is_persistent = call.persistent,
                            .is_active = !call.persistent});
}

}  // namespace chiplog::tracer
