// Whether a transport of this probe can be used on this machine, as far as that shows without a run.
#pragma once

#include <string>
#include <vector>

namespace chiplog {

struct Availability {
  bool usable = true;
  // What was found ("libfabric 1.17"), or what is missing; may be empty where nothing is needed.
  std::string why = {};
  // What makes it usable, where it isn't.
  std::string remedy = {};
  // What this machine offers to the transport's options, as a user writes them: "provider=tcp", "device=mlx5_0".
  std::vector<std::string> choices = {};
};

}  // namespace chiplog
