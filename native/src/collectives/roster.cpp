#include "collectives/roster.hpp"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cinttypes>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <fstream>

namespace chiplog::collectives {
namespace {

const std::string prefix = "chiplog/";

// The system hands its list out piece by piece: a socket that closes meanwhile can hide another one from one reading.
constexpr int readings = 3;

std::string name_of(const std::string& group, int rank, const NodeMemoryAddress& board) {
  char text[64];
  std::snprintf(text, sizeof text, "/%d/%" PRId64 "/%" PRId64 "/%" PRIx64, rank, board.process, board.descriptor,
                board.token);
  return prefix + group + text;
}

}  // namespace

Roster::~Roster() {
  if (socket_ >= 0) close(socket_);
}

bool Roster::announce(int rank, const NodeMemoryAddress& board) {
  const std::string name = name_of(group_, rank, board);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (name.size() + 1 > sizeof address.sun_path) return false;
  std::memcpy(address.sun_path + 1, name.data(), name.size());  // a leading 0: no name in any file system
  const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  socket_ = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (socket_ < 0) return false;
  if (bind(socket_, reinterpret_cast<const sockaddr*>(&address), length) == 0 && has(std::array{rank})) return true;
  close(socket_);
  socket_ = -1;
  return false;
}

bool Roster::has(std::span<const int> ranks) {
  const std::lock_guard lock(mutex_);
  const auto is_found = [this](int rank) { return found_.contains(rank); };
  if (std::all_of(ranks.begin(), ranks.end(), is_found)) return true;
  for (int reading = 0; reading < readings; ++reading) {
    read_names();
    if (std::all_of(ranks.begin(), ranks.end(), is_found)) return true;
  }
  return false;
}

std::vector<std::byte*> Roster::boards_of(std::span<const int> ranks, std::size_t board_bytes) {
  const std::lock_guard lock(mutex_);
  std::vector<std::byte*> boards;
  for (const int rank : ranks) {
    const auto at = found_.find(rank);
    if (at == found_.end()) return {};
    NodeMemory& board = at->second.board;
    if (board.data() == nullptr) {
      board = NodeMemory::open(at->second.address, board_bytes);
      board.close();
    }
    if (board.data() == nullptr) return {};
    boards.push_back(board.data());
  }
  return boards;
}

void Roster::read_names() {
  std::ifstream sockets("/proc/net/unix");
  std::string line;
  while (std::getline(sockets, line)) {
    int rank = -1;
    NodeMemoryAddress address;
    if (parse_announcement(line, group_, rank, address)) found_.emplace(rank, Found{address, {}});
  }
}

bool parse_announcement(const std::string& line, const std::string& group, int& rank, NodeMemoryAddress& board) {
  const std::string wanted = "@" + prefix + group + "/";
  const std::size_t at = line.find(wanted);
  if (at == std::string::npos) return false;
  int end = 0;
  const char* rest = line.c_str() + at + wanted.size();
  const int fields = std::sscanf(rest, "%d/%" SCNd64 "/%" SCNd64 "/%" SCNx64 "%n", &rank, &board.process,
                                 &board.descriptor, &board.token, &end);
  return fields == 4 && rest[end] == '\0' && rank >= 0;
}

}  // namespace chiplog::collectives
