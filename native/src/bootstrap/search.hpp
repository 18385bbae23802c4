// Ranks that a launcher started on several hosts find rank 0 by themselves.
//
// Rank 0 listens on all interfaces of its host, at the first free port of a few that all ranks know, and writes its
// addresses into a file where one is named. The others try, in turn: their own host, the first host of Slurm's lists,
// and the addresses in the file. Whoever answers has to prove that it knows the secret, so another run's rank 0 at one
// of these ports is passed over.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bootstrap/bootstraps.hpp"
#include "bootstrap/meeting.hpp"

namespace chiplog {

// The number of ports at which rank 0 may listen.
inline constexpr unsigned search_ports = 16;

// The first host of a list of Slurm's, such as "rack[1-2]n[01-08],login" ("rack1n01"); empty for an empty list.
std::string first_host(std::string_view slurm_list);

// The hosts where rank 0 may be, as Slurm's variables tell, the likeliest first, each once.
std::vector<std::string> hosts_from_slurm(const Environment& environment);

// The file that tells where rank 0 is. It goes with this object.
class MeetingFile {
 public:
  // Writes the addresses of this host's interfaces and `port`, so that a reader finds all of it or nothing. Throws
  // Error where the file can't be written.
  MeetingFile(std::string path, unsigned port);
  ~MeetingFile();
  MeetingFile(const MeetingFile&) = delete;
  MeetingFile& operator=(const MeetingFile&) = delete;

 private:
  std::string path_;
};

// The addresses in a meeting file; empty where it is not there or is no such file.
std::vector<RendezvousPoint> read_meeting_file(const std::string& path);

}  // namespace chiplog
