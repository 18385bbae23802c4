// The simulated network: LogGOPS in virtual time, exact to the picosecond, and the models that refine it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "chiplog/transport.hpp"
#include "transports/sim/fibers.hpp"
#include "transports/sim/message.hpp"
#include "transports/sim/node_nic.hpp"
#include "transports/sim/parameters.hpp"
#include "transports/sim/process_nic.hpp"
#include "transports/sim/receiving_nic.hpp"

namespace chiplog::sim {

// A sender at time t is busy to t + o_s + (s-1)O_s; injection starts when its NIC is free, too, and keeps the NIC busy
// for g + (s-1)G; the last byte arrives (s-1)G + L after the injection began; the receiver is done o_r + (s-1)O_r after
// the arrival or after it was ready, whichever is later. 0 bytes count as 1. Without O_s and O_r this is LogGP.
//
// Above S a sender goes on only when the receiver is ready. A receiver is ready from the moment at which it has
// nothing to do but to receive: between two receives it does not stop being ready (its receives are posted ahead), so
// a train runs at the speed of LogGP. With the handshake `sync` the data is sent only after a request and its answer,
// each L + o_s + o_r. A receive that is posted is ready from then on, whatever its rank does. With `progress=calls`
// a rank that computes does none of this: its receive is ready, and it hears the answer, once it waits.
//
// LogfP: f messages are free of the gap (ProcessNic), and p sends in a row (a burst, which ends when the process does
// anything else) cost o(p) = o_s + o_max/p each. LoP: the p messages of a burst arrive when its curve says.
//
// Lists: posting p messages as one list costs the CPU what p sends in a row cost; the NIC begins with the first of them
// when all have been posted. LoP's messages arrive as much later as the list's posts after the first take.
//
// One-sided operations cost the other process nothing: a write is a message that is received without o_r and O_r and
// never waits for its receive (with immediate data its arrival costs o_r). A read or an atomic operation is a request
// of 1 byte and an answer of s bytes that the other process' NIC injects: o_s + 2L + (s-1)G.
//
// Messages that meet at a receiver: its NIC receives those of different ranks one after the other, each for g + (s-1)G.
// LogfP, LoP and max-rate say nothing of it, and the answers of reads and atomic operations don't wait for each other.
//
// Duplex: of two messages that meet, each of which one rank sends while it receives the other, a byte takes G times a
// factor: 1 where a NIC has an engine for each direction, 2 where it has one for both.
//
// States: what a CPU or NIC begins while the machine is in its slow state takes longer by the state's factor; what a
// process computes does not.
//
// Max-rate: messages between nodes, the two halves of the ranks, share the NodeNic, and there is no G.
class Network {
 public:
  // `seed` is the seed of the states' turns.
  Network(const Parameters& parameters, Fibers& fibers, std::uint64_t seed = 0);
  Network(const Network&) = delete;
  Network& operator=(const Network&) = delete;

  [[nodiscard]] const Parameters& parameters() const { return parameters_; }

  // `payload` may be null: then the message has no contents.
  void post_send(Rank from, Rank to, const std::byte* payload, std::size_t bytes) {
    post_message(from, to, payload, bytes, 1.0);
  }
  // A message that meets another of `to`.
  void post_exchange(Rank from, Rank to, const std::byte* payload, std::size_t bytes) {
    post_message(from, to, payload, bytes, parameters_.duplex);
  }
  // What `rank` posts between these is one list. Only posts may stand between them.
  void begin_list(Rank rank);
  void end_list(Rank rank);
  // Waits until all messages above S that `rank` has sent are matched.
  void wait_sends(Rank rank);
  std::size_t recv(Rank rank, Rank source, std::byte* payload, std::size_t capacity_bytes);
  // The next receive is posted now, and waited for by `wait_recv`.
  void post_recv(Rank rank) { process(rank).receive_posted = process(rank).cpu; }
  std::size_t wait_recv(Rank rank, Rank source, std::byte* payload, std::size_t capacity_bytes);

  // Writes: the last `carried` of the `bytes` at `payload` arrive at `target`.
  void post_write(Rank from, Rank to, const std::byte* payload, std::size_t bytes, std::size_t carried,
                  std::byte* target);
  // Waits until the next write of `source` has landed; that costs the receiver o_r if `costs_receiver`.
  void await_write(Rank rank, Rank source, bool costs_receiver);
  // Posts a read or an atomic operation of `bytes` at `peer`, whose NIC answers.
  void post_fetch(Rank rank, Rank peer, std::size_t bytes);
  void wait_fetches(Rank rank);

  // Makes a window known to all ranks, once each has made its window of this number. Returns the number.
  std::size_t show_window(Rank rank, std::byte* begin);
  [[nodiscard]] std::byte* window_of(Rank rank, std::size_t number) const { return process(rank).windows[number]; }

  [[nodiscard]] Picoseconds now(Rank rank) const { return process(rank).cpu; }
  void compute(Rank rank, Picoseconds duration);
  // Waits until `parties` ranks are here. They go on at the same time, when no NIC is busy any more. One alone goes on
  // by itself, whoever else waits.
  void settle(Rank rank, int parties);
  void leave_meeting(Rank rank) { process(rank).meeting = 0; }
  // The number of the last `settle` of several ranks that `rank` was a party of and has not left; else 0.
  [[nodiscard]] std::uint64_t meeting(Rank rank) const { return process(rank).meeting; }

 private:
  // The costs of a message of s bytes: `wire` is (s-1)G, `send` is o_s + (s-1)O_s, `receive` is o_r + (s-1)O_r.
  struct Times {
    Picoseconds L, o_s, o_r, g, wire, send, receive;
  };
  struct Posted {
    Rank to;
    Message* message;
    Times times;
  };
  struct Fetch {
    Rank peer;
    std::size_t bytes;
  };
  struct Burst {  // posted in a row, and not injected yet
    Picoseconds begin = 0;
    std::vector<Posted> sends;
    std::vector<Fetch> fetches;  // of a list
    bool is_list = false;        // open: more is to come
  };
  struct Process {
    Picoseconds cpu = 0;
    ProcessNic nic;
    ReceivingNic receiving_nic;
    Burst burst;
    Picoseconds ready_since = 0;  // to receive
    std::uint64_t synchronised_sends = 0;
    std::uint64_t matched_sends = 0;
    Picoseconds latest_match = 0;  // when the sender may go on
    std::optional<Picoseconds> receive_posted;
    bool waits = false;  // in a call
    Picoseconds computed_until = 0;
    bool settled = false;
    std::uint64_t meeting = 0;
    Picoseconds latest_fetch = 0;
    std::vector<std::byte*> windows;
  };

  [[nodiscard]] Process& process(Rank rank) { return processes_[static_cast<std::size_t>(rank)]; }
  [[nodiscard]] const Process& process(Rank rank) const { return processes_[static_cast<std::size_t>(rank)]; }
  [[nodiscard]] std::size_t node_of(Rank rank) const { return rank < parameters_.ranks / 2 ? 0 : 1; }
  using Queue = std::deque<Message>;
  [[nodiscard]] Queue& of(std::vector<Queue>& queues, Rank from, Rank to);
  void post_message(Rank from, Rank to, const std::byte* payload, std::size_t bytes, double duplex);
  Message& post(Queue& queue, Rank from, Rank to, Message posted);
  [[nodiscard]] Message take(Queue& queue, Rank rank, Rank source);
  // The parameters where and when `process` is.
  // What a message to or from `peer` costs `rank` now.
  [[nodiscard]] Times times(std::size_t bytes, Rank rank, Rank peer, double duplex = 1.0);

  // What the next send in the open burst costs beyond o_s.
  [[nodiscard]] Picoseconds start_up(const Burst& burst) const;
  void end_burst(Process& sender);
  void hand_over(Rank from, const Posted& posted);
  void request(Rank rank, Rank peer, std::size_t bytes);
  // The arrival time of the last byte of a message that may be injected from `earliest` on.
  [[nodiscard]] Picoseconds inject(Process& sender, Picoseconds earliest, const Times& times) const;
  void inject(Message& message, Process& sender, Picoseconds earliest, const Times& times) const;
  void send_between_nodes(Rank from, Rank to, Message& message, const Times& times);
  void match(Message& message, Process& sender, const Process& receiver, const Times& times);
  // The arrival of a message at a NIC that receives others, too.
  [[nodiscard]] static Picoseconds landed(const Message& message, Rank from, Process& receiver);
  [[nodiscard]] Picoseconds received(const Message& message, Picoseconds ready, const Times& times) const;

  // Lets the next event in a node's NIC happen, when all ranks wait. Returns false if there is no such event.
  bool next_event();
  [[nodiscard]] bool nodes_are_idle() const;
  [[nodiscard]] Picoseconds idle_at();

  Parameters parameters_;
  Fibers& fibers_;
  std::optional<StateHistory> states_;
  std::vector<Process> processes_;
  std::vector<NodeNic> nodes_;  // none without max-rate
  std::vector<Queue> messages_;
  std::vector<Queue> writes_;
  std::vector<Rank> settling_;
  std::uint64_t meetings_ = 0;
};

}  // namespace chiplog::sim
