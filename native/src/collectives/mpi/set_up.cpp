#include "collectives/mpi/set_up.hpp"

#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>

#include "collectives/mpi/errors_returned.hpp"
#include "collectives/mpi/leaders.hpp"
#include "collectives/tuning.hpp"

namespace chiplog::collectives {
namespace {

struct Size {
  int ranks = 1;
  int rank = 0;
};

// Of all ranks: how many failed, how many are the first of their node.
struct Counts {
  int failures = 0;
  int leaders = 0;
};

// A failure to count is one of everybody's.
Counts count(MPI_Comm communicator, bool failed, bool leads) {
  const int mine[] = {failed ? 1 : 0, leads ? 1 : 0};
  int all[2] = {};
  if (PMPI_Allreduce(mine, all, 2, MPI_INT, MPI_SUM, communicator) != MPI_SUCCESS) return {1, 0};
  return {all[0], all[1]};
}

// What is told about a barrier, by rank 0 of its communicator only.
struct Story {
  Size size;
  int leaders = 0;
  bool meets_on_node = false;
  std::string node_failure;
  Choice choice;
};

void say(const std::string& sentence) { std::fprintf(stderr, "chiplog: %s\n", sentence.c_str()); }

bool verbose() {
  const char* asked = std::getenv("CHIPLOG_VERBOSE");
  return asked != nullptr && *asked != '\0' && std::string(asked) != "0";
}

// Without it every rank exchanges messages, as if each had a node of its own.
bool wants_shared_memory() {
  const char* asked = std::getenv("CHIPLOG_BARRIER_SHARED");
  return asked == nullptr || std::string(asked) != "0";
}

std::string name_of(MPI_Comm communicator) {
  char name[MPI_MAX_OBJECT_NAME] = "";
  int length = 0;
  PMPI_Comm_get_name(communicator, name, &length);
  return length > 0 ? name : "a communicator without a name";
}

std::string messages(const Story& story) {
  const std::string among = " among " + std::to_string(story.leaders) + (story.meets_on_node ? " nodes" : " ranks");
  const Choice& choice = story.choice;
  if (choice.algorithm == nullptr) return "the MPI's own barrier" + among + ", " + choice.why;
  const std::string symbol = choice.algorithm->takes_peers() ? std::string(choice.algorithm->symbol) + " " : "";
  return choice.algorithm->text(choice.peers) + among + ", " + symbol + choice.why;
}

std::string subject(MPI_Comm communicator, const Story& story) {
  return "barrier of " + std::to_string(story.size.ranks) + " ranks (" + name_of(communicator) + "): ";
}

// What is used, on nodes and between them.
std::string parts(const Story& story) {
  std::string text = story.meets_on_node ? "shared memory on each node" : "";
  if (story.leaders > 1) text += (story.meets_on_node ? ", then " : "") + messages(story);
  if (!story.node_failure.empty()) text += " (no shared memory: " + story.node_failure + ")";
  return text;
}

void tell(MPI_Comm communicator, const Story& story) {
  if (!story.choice.problem.empty()) say(story.choice.problem + ": not in force");
  if (verbose()) say(subject(communicator, story) + parts(story));
}

// What is to be called when a trial has found another barrier; nothing where nobody listens.
Leaders::Tell tell_of_trial(MPI_Comm communicator, const Story& story) {
  if (story.size.rank != 0 || !verbose()) return nullptr;
  return [about = subject(communicator, story), found = story](const Choice& choice) mutable {
    found.choice = choice;
    say(about + "after " + std::to_string(Leaders::barriers_before_trial) + " barriers, " + parts(found));
  };
}

void tell_unserved(MPI_Comm communicator, const Size& size, const char* why) {
  if (size.rank == 0 && verbose()) say("barrier of " + name_of(communicator) + ": left to the MPI, " + why);
}

bool is_intercommunicator(MPI_Comm communicator) {
  int inter = 0;
  PMPI_Comm_test_inter(communicator, &inter);
  return inter != 0;
}

Size size_of(MPI_Comm communicator) {
  Size size;
  PMPI_Comm_size(communicator, &size.ranks);
  PMPI_Comm_rank(communicator, &size.rank);
  return size;
}

// What rank 0 has chosen, for all; its reasons stay with it.
bool share(Choice& choice, MPI_Comm own) {
  int shared[] = {code_of(choice), choice.peers, choice.provisional ? 1 : 0};
  if (PMPI_Bcast(shared, 3, MPI_INT, 0, own) != MPI_SUCCESS) return false;
  set_code(choice, shared[0]);
  choice.peers = shared[1];
  choice.provisional = shared[2] != 0;
  return true;
}

// The first of the leaders is rank 0 of the whole communicator; its environment counts.
std::unique_ptr<Leaders> join_leaders(MPI_Comm communicator, const Size& size, bool leads, Story& story) {
  MPI_Comm own = MPI_COMM_NULL;
  if (PMPI_Comm_split(communicator, leads ? 0 : MPI_UNDEFINED, size.rank, &own) != MPI_SUCCESS) return nullptr;
  if (!leads) return nullptr;
  PMPI_Comm_set_errhandler(own, MPI_ERRORS_RETURN);
  if (size.rank == 0) story.choice = choose(story.leaders);
  if (!share(story.choice, own)) {
    PMPI_Comm_free(&own);
    return nullptr;
  }
  auto leaders = std::make_unique<Leaders>(own, story.choice, tell_of_trial(communicator, story));
  return leaders->error() == MPI_SUCCESS ? std::move(leaders) : nullptr;
}

// Whatever a rank finds, it takes part in all steps: nobody waits for it in vain.
std::unique_ptr<Barrier> try_to_set_up(MPI_Comm communicator, const Size& size, bool willing) {
  NodePart node = meet_on_node(communicator);
  if (!wants_shared_memory()) node.failure = "CHIPLOG_BARRIER_SHARED=0";
  const Counts nodes = count(communicator, !node.failure.empty(), node.rank == 0);
  Story story{size, nodes.leaders, true, node.failure, {}};
  if (nodes.failures > 0 || nodes.leaders == size.ranks) {
    node = NodePart{};
    story.leaders = size.ranks;
    story.meets_on_node = false;
  }
  std::unique_ptr<Leaders> leaders;
  if (story.leaders > 1) leaders = join_leaders(communicator, size, node.rank == 0, story);
  const bool has_rounds = leaders || story.leaders == 1 || node.rank != 0;
  if (count(communicator, !willing || !has_rounds, false).failures > 0) return nullptr;
  if (size.rank == 0) tell(communicator, story);
  return std::make_unique<Barrier>(std::move(node), std::move(leaders), story.leaders == 1);
}

}  // namespace

std::unique_ptr<Barrier> set_up(MPI_Comm communicator, bool willing) {
  const Size size = size_of(communicator);
  if (is_intercommunicator(communicator)) {
    tell_unserved(communicator, size, "it is an intercommunicator");
    return nullptr;
  }
  if (size.ranks == 1) return nullptr;
  const ErrorsReturned guard(communicator);
  auto barrier = try_to_set_up(communicator, size, willing);
  if (!barrier) tell_unserved(communicator, size, "which refused a communicator or a request");
  return barrier;
}

}  // namespace chiplog::collectives
