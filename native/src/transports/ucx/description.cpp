#include "transports/ucx/description.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <sstream>
#include <string_view>
#include <vector>

#include "core/json_object.hpp"

namespace chiplog::ucx {
namespace {

// The text that UCX prints of an endpoint.
std::string printed(const Network& network, ucp_ep_h endpoint) {
  char* text = nullptr;
  std::size_t bytes = 0;
  std::FILE* memory = open_memstream(&text, &bytes);
  if (memory == nullptr) return {};
  network.library().ep_print_info(endpoint, memory);
  std::fclose(memory);
  std::string copy(text, bytes);
  std::free(text);
  return copy;
}

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of("# \t");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t") - begin + 1);
}

// "tcp/eth0.0: am am_bw#0 wireup" from
// "lane[0]:  0:tcp/eth0.0 md[0]   -> md[0]/tcp/sysdev[255] am am_bw#0 wireup"; the line itself if it looks different.
std::string lane_of(std::string_view line) {
  const std::string_view rest = trimmed(line.substr(line.find("]:") + 2));
  const std::size_t number = rest.find(':');
  const std::size_t end = rest.find(' ');
  const std::size_t roles = rest.rfind("] ");
  if (number == std::string_view::npos || end == std::string_view::npos || number > end ||
      roles == std::string_view::npos) {
    return std::string(rest);
  }
  return std::string(rest.substr(number + 1, end - number - 1)) + ": " + std::string(trimmed(rest.substr(roles + 1)));
}

void add_once(std::vector<std::string>& all, std::string one) {
  if (std::find(all.begin(), all.end(), one) == all.end()) all.push_back(std::move(one));
}

struct Choices {
  std::vector<std::string> lanes;
  // Which protocol UCX uses from which size on, if UCX reports it.
  std::vector<std::string> messages;
};

// What UCX chose for all peers, each choice once.
Choices choices_of(const Network& network) {
  constexpr std::string_view messages = "tag_send:";
  Choices choices;
  for (ucp_ep_h endpoint : network.endpoints()) {
    if (endpoint == nullptr) continue;
    std::istringstream text(printed(network, endpoint));
    for (std::string line; std::getline(text, line);) {
      const std::string_view told = trimmed(line);
      if (told.starts_with("lane[")) add_once(choices.lanes, lane_of(told));
      if (told.starts_with(messages)) {
        add_once(choices.messages, std::string(trimmed(told.substr(messages.size()))));
      }
    }
  }
  return choices;
}

// The variables by which users and sites tune UCX.
std::string environment_json() {
  JsonObject settings;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view variable(*entry);
    const std::size_t equals = variable.find('=');
    if (equals == std::string_view::npos || !variable.starts_with("UCX_") || variable.starts_with("UCX_LOG_")) continue;
    settings.add(variable.substr(0, equals), variable.substr(equals + 1));
  }
  return settings.text();
}

}  // namespace

std::string describe_json(const Network& network, const UcxOptions& options) {
  const Choices choices = choices_of(network);
  return JsonObject()
      .add("version", network.library().version())
      .add("tls", options.tls)
      .add("device", options.devices)
      .add_json("lanes", json_list(choices.lanes))
      .add_json("messages", json_list(choices.messages))
      .add("error_handling", "none")
      .add("write_order", "fence before each")
      .add("wait_operations", "complete at the origin")
      .add("inline", "UCX decides")
      .add("window_memory", "allocated by UCX")
      .add_json("environment", environment_json())
      .text();
}

}  // namespace chiplog::ucx
