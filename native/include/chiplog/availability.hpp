// Says whether a transport of this probe can be used on this machine, as far as that can be told without a run.
#pragma once

#include <string>
#include <vector>

namespace chiplog {

struct Availability {
  bool usable = true;
  // The version found ("libfabric 1.17"), or what is missing; may be empty if nothing is needed.
  std::string why = {};
  // What to do if it is not usable.
  std::string remedy = {};
  // The values of the transport's options that work on this machine, as a user writes them: "provider=tcp",
  // "device=mlx5_0".
  std::vector<std::string> choices = {};
};

}  // namespace chiplog
