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

// "93..6237 eager copy-in copy-out" from "|  93..6237 | eager copy-in copy-out | sysv/memory |", also of one size, such
// as "0"; empty of other lines.
std::string range_of(std::string_view row) {
  const std::size_t end = row.find('|', 1);
  if (!row.starts_with('|') || end == std::string_view::npos) return {};
  const std::string_view sizes = trimmed(row.substr(1, end - 1));
  if (sizes.empty() || sizes.find_first_not_of("0123456789.KMGTinf") != std::string_view::npos) return {};
  const std::string_view rest = row.substr(end + 1);
  return std::string(sizes) + " " + std::string(trimmed(rest.substr(0, rest.find('|'))));
}

// Whether a table is of messages as they are sent here, not with a hint such as ucp_tag_send*(multi).
bool is_title_of_messages(std::string_view row) {
  return row.find("ucp_tag_send* ") != std::string_view::npos || row.find("ucp_tag_send*()") != std::string_view::npos;
}

// The protocols of tagged messages in the tables that UCX's newer protocol selection prints; empty without them.
std::vector<std::string> table_of_messages(const std::string& text) {
  std::vector<std::string> ranges;
  bool is_inside = false;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const std::string_view row = trimmed(line);
    const std::string range = range_of(row);
    if (!range.empty() && is_inside) ranges.push_back(range);
    if (ranges.empty() && is_title_of_messages(row)) is_inside = true;
    if (row.starts_with('+') && !ranges.empty()) is_inside = false;
  }
  return ranges;
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
    const std::string info = printed(network, endpoint);
    const std::vector<std::string> ranges = table_of_messages(info);
    for (const std::string& range : ranges) add_once(choices.messages, range);
    std::istringstream text(info);
    for (std::string line; std::getline(text, line);) {
      const std::string_view told = trimmed(line);
      if (told.starts_with("lane[")) add_once(choices.lanes, lane_of(told));
      // Where there is a table, it is what is in force.
      if (ranges.empty() && told.starts_with(messages)) {
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
