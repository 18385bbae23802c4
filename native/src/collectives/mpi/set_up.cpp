#include "collectives/mpi/set_up.hpp"

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>

#include "collectives/mpi/errors_returned.hpp"
#include "collectives/mpi/leaders.hpp"
#include "collectives/mpi/long_wait.hpp"
#include "collectives/mpi/members.hpp"
#include "collectives/mpi/progress.hpp"
#include "collectives/settings.hpp"
#include "collectives/tuning.hpp"

namespace chiplog::collectives {
namespace {

// What a member tells all others, in one call. Of the choices, those of rank 0 count: its environment is the program's.
struct ToldChoice {
  std::int32_t code = 0;
  std::int32_t peers = 0;
  std::int32_t provisional = 0;
};
struct Told {
  std::uint64_t latest_barrier = 0;  // that its slot has seen
  std::int32_t slot = -1;
  std::int32_t meets = 0;  // Can it meet those of its node in shared memory?
  std::int32_t tag = 0;    // rank 0's, for messages between nodes
  std::int32_t numbers_are_pending = 0;
  ToldChoice of_nodes;
  ToldChoice of_ranks;  // where some node's ranks can't meet
};

ToldChoice told(const Choice& choice) { return {code_of(choice), choice.peers, choice.provisional ? 1 : 0}; }

void hear(Choice& choice, const ToldChoice& heard) {
  set_code(choice, heard.code);
  choice.peers = heard.peers;
  choice.provisional = heard.provisional != 0;
}

std::string name_of(MPI_Comm communicator) {
  char name[MPI_MAX_OBJECT_NAME] = "";
  int length = 0;
  PMPI_Comm_get_name(communicator, name, &length);
  return length > 0 ? name : "a communicator without a name";
}

// What rank 0 says about a barrier.
struct Description {
  std::string subject;
  std::size_t leaders = 1;
  bool meets_on_node = false;

  // What is used, on nodes and between them.
  [[nodiscard]] std::string text(const Choice& choice) const {
    std::string parts = meets_on_node ? "shared memory on each node" : "";
    if (leaders == 1) return subject + parts;
    if (meets_on_node) parts += ", then ";
    parts += choice.algorithm->text(choice.peers) + " among " + std::to_string(leaders);
    parts += meets_on_node ? " nodes, " : " ranks, ";
    if (choice.algorithm->takes_peers()) parts += std::string(choice.algorithm->symbol) + " ";
    return subject + parts + choice.why;
  }
};

// One set-up, from what is known before to the barrier.
class SetUp {
 public:
  SetUp(MPI_Comm communicator, World& world, Members members)
      : communicator_(communicator), world_(world), members_(std::move(members)) {}

  // Where it can't be now, `is_put_off`.
  std::unique_ptr<Barrier> run(std::string& why_not, bool& is_put_off) {
    const std::vector<std::byte*> boards = open_boards();
    std::vector<Told> all = tell_all();
    if (all.empty()) {
      why_not = "the MPI refused to gather what its ranks can do";
      return nullptr;
    }
    is_put_off = std::any_of(all.begin(), all.end(), [](const Told& one) { return one.numbers_are_pending != 0; });
    if (is_put_off) {
      why_not = "for now: calls of MPI_Comm_idup may be pending";
      return nullptr;
    }
    const bool meet = std::all_of(all.begin(), all.end(), [](const Told& one) { return one.meets != 0; });
    if (!meet && world_.messages() == MPI_COMM_NULL) {
      why_not = "some ranks of this node can't open memory of others";
      return nullptr;
    }
    if (!meet) members_ = apart(std::move(members_));
    meets_on_node_ = meet && members_.leaders.size() < all.size();
    NodePart node = meets_on_node_ ? node_part(boards, all) : NodePart{};
    if (members_.leaders.size() == 1) return finish(std::move(node), nullptr, true);
    hear(choice_, meet ? all.front().of_nodes : all.front().of_ranks);
    if (choice_.algorithm == nullptr && !choice_.by_trial) {
      if (members_.rank == 0 && settings().verbose)
        say(description().subject + "the MPI's own barrier, " + choice_.why);
      return nullptr;
    }
    if (all.front().tag == 0) {
      why_not = "there are too many barriers at a time";
      return nullptr;
    }
    std::unique_ptr<Leaders> leaders = join_leaders(all.front().tag);
    if (!agree(leads() ? leaders != nullptr : true)) {
      why_not = "it refused a request";
      return nullptr;
    }
    return finish(std::move(node), std::move(leaders), false);
  }

 private:
  [[nodiscard]] bool leads() const { return members_.neighbours.front() == members_.rank; }

  // Empty where this rank is alone on its node, and where its memory or another's can't be had.
  std::vector<std::byte*> open_boards() {
    if (members_.neighbours.size() == 1) {
      told_.meets = 1;
      return {};
    }
    const std::vector<int> here = members_.world_ranks_of(members_.neighbours);
    if (!world_.has_here(here)) return {};
    std::vector<std::byte*> boards = world_.boards_of(here);
    slot_ = BoardSlot(world_.board());
    if (boards.empty() || !slot_.has()) return {};
    world_.board().show_allowed_cpus();
    told_.meets = 1;
    told_.slot = slot_.number();
    told_.latest_barrier = slot_.latest();
    return boards;
  }

  // Of all members; empty where the MPI refuses.
  std::vector<Told> tell_all() {
    if (members_.rank == 0 && world_.messages() != MPI_COMM_NULL) {
      choice_ = choose(static_cast<int>(members_.leaders.size()));
      told_.of_nodes = told(choice_);
      told_.of_ranks = told(choose(members_.count()));
      tag_ = OwnedTag(world_);
      told_.tag = tag_.number();
    }
    told_.numbers_are_pending = PendingNumbers::are_likely() ? 1 : 0;
    std::vector<Told> all(members_.world_ranks.size());
    MPI_Request request = MPI_REQUEST_NULL;
    int error =
        PMPI_Iallgather(&told_, sizeof told_, MPI_BYTE, all.data(), sizeof told_, MPI_BYTE, communicator_, &request);
    if (error == MPI_SUCCESS) error = wait_long(request, [this] { return who_is_awaited(); });
    return error == MPI_SUCCESS ? all : std::vector<Told>{};
  }

  // For ranks whose set-up takes long: all come to it after the same barrier.
  [[nodiscard]] std::string who_is_awaited() const {
    return name_of(communicator_) + ": rank " + std::to_string(members_.rank) + " of " +
           std::to_string(members_.count()) +
           " waits for the others after a barrier. Ranks without this library, or with other settings of it, never "
           "come: CHIPLOG_EVERY_RANK=1 says that there are none.";
  }

  NodePart node_part(const std::vector<std::byte*>& boards, const std::vector<Told>& all) {
    NodePart part;
    part.slot = std::move(slot_);
    if (boards.empty()) return part;
    cpu_set_t together;
    CPU_ZERO(&together);
    for (std::size_t i = 0; i < boards.size(); ++i) {
      const Told& one = all[static_cast<std::size_t>(members_.neighbours[i])];
      if (members_.neighbours[i] == members_.rank) part.rank = static_cast<int>(i);
      part.flags.push_back(flags_on(boards[i], one.slot));
      part.begun = std::max(part.begun, one.latest_barrier);
      CPU_OR(&together, &together, &page_of(boards[i]).allowed_cpus);
    }
    part.patience.crowded = static_cast<int>(boards.size()) > CPU_COUNT(&together);
    return part;
  }

  // Null on ranks that lead no node, and where the MPI refuses something.
  std::unique_ptr<Leaders> join_leaders(int tag) {
    if (!leads()) return nullptr;
    LeaderGroup group{world_.messages(), tag, members_.world_ranks_of(members_.leaders), 0};
    const auto self = std::find(members_.leaders.begin(), members_.leaders.end(), members_.rank);
    group.self = static_cast<int>(self - members_.leaders.begin());
    auto leaders = std::make_unique<Leaders>(std::move(group), std::move(tag_), choice_, tell_of_trial());
    return leaders->error() == MPI_SUCCESS ? std::move(leaders) : nullptr;
  }

  bool agree(bool mine) {
    const int own = mine ? 1 : 0;
    int all = 0;
    return PMPI_Allreduce(&own, &all, 1, MPI_INT, MPI_MIN, communicator_) == MPI_SUCCESS && all == 1;
  }

  std::unique_ptr<Barrier> finish(NodePart node, std::unique_ptr<Leaders> leaders, bool one_node) {
    if (members_.rank == 0 && settings().verbose) say(description().text(choice_));
    return std::make_unique<Barrier>(std::move(node), std::move(leaders), one_node);
  }

  [[nodiscard]] Description description() const {
    const std::string subject =
        "barrier of " + std::to_string(members_.count()) + " ranks (" + name_of(communicator_) + "): ";
    return {subject, members_.leaders.size(), meets_on_node_};
  }

  // What is to be called when a trial has found another barrier; nothing where nobody listens.
  Leaders::Tell tell_of_trial() {
    if (members_.rank != 0 || !settings().verbose) return nullptr;
    Description found = description();
    found.subject += "after " + std::to_string(Leaders::barriers_before_trial) + " barriers, ";
    return [found](const Choice& choice) { say(found.text(choice)); };
  }

  MPI_Comm communicator_;
  World& world_;
  Members members_;
  BoardSlot slot_;
  OwnedTag tag_;  // of rank 0
  Told told_;
  Choice choice_;
  bool meets_on_node_ = false;
};

}  // namespace

SetUpResult set_up(MPI_Comm communicator, World& world) {
  std::string why_not;
  Members members = find_members(communicator, world, why_not);
  SetUpResult result;
  const int rank = members.rank;
  const bool is_trivial = members.count() == 1;
  if (why_not.empty()) {
    const ErrorsReturned guard(communicator);
    result.barrier = SetUp(communicator, world, std::move(members)).run(why_not, result.is_put_off);
  }
  if (!why_not.empty() && rank == 0 && settings().verbose && !is_trivial) {
    say("barrier of " + name_of(communicator) + ": left to the MPI, " + why_not);
  }
  return result;
}

}  // namespace chiplog::collectives
