// This process among the ranks of MPI_COMM_WORLD: who of them has the library, who shares a node, and the communicator
// on which the library's own messages go.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "collectives/board.hpp"
#include "collectives/roster.hpp"

namespace chiplog::collectives {

class World {
 public:
  // MPI must be up. Announces this process to the others of its node.
  World();
  ~World();
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  // Makes the communicator for the library's own messages and finds out who shares a node. Collective over
  // MPI_COMM_WORLD; only where every rank has the library. Where the MPI refuses, there is none. A rank that waits long
  // for others says so.
  void connect();
  // Frees it. Collective over MPI_COMM_WORLD.
  void disconnect();

  // The members' ranks in MPI_COMM_WORLD; empty if one of them is not in it, and where the MPI's answers contradict
  // each other: the group that MPICH 5.0 gives of a Cartesian communicator of some ranks only has all ranks.
  [[nodiscard]] std::vector<int> ranks_of(MPI_Comm communicator) const;

  // MPI_COMM_NULL where it is not known that every rank has the library.
  [[nodiscard]] MPI_Comm messages() const { return messages_; }
  // Of a rank of MPI_COMM_WORLD; only with `messages`. Nodes are known by their lowest rank.
  [[nodiscard]] int node_of(int rank) const { return nodes_[static_cast<std::size_t>(rank)]; }
  [[nodiscard]] int rank() const { return rank_; }

  [[nodiscard]] Board& board() { return board_; }
  // True if all these ranks are on this node and have the library; each of them gets the same answer.
  [[nodiscard]] bool has_here(const std::vector<int>& ranks);
  // Those of MPI_COMM_WORLD that aren't on this node, or don't have the library, as far as can be seen: "ranks 1, 3".
  [[nodiscard]] std::string unseen();
  // The boards of these ranks of this node, in their order; empty if one of them can't be opened.
  [[nodiscard]] std::vector<std::byte*> boards_of(const std::vector<int>& ranks);

  // A tag for the messages of one communicator whose rank 0 this process is; 0 where all are taken. No other process
  // has the same ones. It is taken until it is given back.
  [[nodiscard]] int take_tag();
  void give_back_tag(int tag);

 private:
  // Returns when all ranks have come here; false where the MPI refuses.
  bool meet_all();

  int rank_ = 0;
  int ranks_ = 1;
  MPI_Group group_ = MPI_GROUP_NULL;
  MPI_Comm messages_ = MPI_COMM_NULL;
  std::vector<int> nodes_;
  Board board_;
  std::unique_ptr<Roster> roster_;
  std::int64_t largest_tag_ = 0;
  std::mutex tags_mutex_;
  std::set<std::int64_t> taken_;  // of the tags of this process, which ones
};

// A tag of the world's, for as long as it lives.
class OwnedTag {
 public:
  OwnedTag() = default;
  explicit OwnedTag(World& world) : world_(&world), number_(world.take_tag()) {}
  ~OwnedTag() {
    if (number_ != 0) world_->give_back_tag(number_);
  }
  OwnedTag(OwnedTag&& other) noexcept { *this = std::move(other); }
  OwnedTag& operator=(OwnedTag&& other) noexcept {
    std::swap(world_, other.world_);
    std::swap(number_, other.number_);
    return *this;
  }

  [[nodiscard]] int number() const { return number_; }  // 0: none

 private:
  World* world_ = nullptr;
  int number_ = 0;
};

}  // namespace chiplog::collectives
