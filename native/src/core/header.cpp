#include "core/header.hpp"

#include <sys/random.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <ctime>
#include <map>
#include <nlohmann/json.hpp>

namespace chiplog {
namespace {

using Json = nlohmann::ordered_json;

std::string text_of(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

std::string random_id() {
  std::uint64_t bits = 0;
  if (getrandom(&bits, sizeof bits, 0) != sizeof bits) {
    timespec now{};
    clock_gettime(CLOCK_REALTIME, &now);
    bits = static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000U + static_cast<std::uint64_t>(now.tv_nsec);
  }
  std::array<char, 17> digits{};
  std::snprintf(digits.data(), digits.size(), "%016llx", static_cast<unsigned long long>(bits));
  return digits.data();
}

std::string now_utc() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  std::array<char, 32> text{};
  std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text.data();
}

template <class T>
Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

Json clock_object(const ClockFacts& clock) {
  Json object{{"name", clock.name}, {"resolution_ns", clock.resolution_ns}, {"overhead_ns", clock.overhead_ns}};
  const bool counted = clock.frequency_hz > 0.0;
  object["frequency_hz"] = counted ? Json(clock.frequency_hz) : Json(nullptr);
  object["frequency_relative_error"] = counted ? Json(clock.frequency_relative_error) : Json(nullptr);
  return object;
}

Json capabilities_object(const Capabilities& c) {
  return {{"two_sided", c.two_sided},
          {"remote_write", c.remote_write},
          {"remote_read", c.remote_read},
          {"write_with_immediate", c.write_with_immediate},
          {"atomics", c.atomics},
          {"inline_send", c.inline_send},
          {"list_posting", c.list_posting},
          {"synchronises", c.synchronises},
          {"posts_receives", c.posts_receives},
          {"multiple_hosts", c.multiple_hosts},
          {"max_message_bytes", c.max_message_bytes},
          {"max_inline_bytes", c.max_inline_bytes}};
}

Json machine_object(const MachineFacts& machine) {
  return {{"cpu_model", machine.cpu_model},
          {"kernel", machine.kernel},
          {"cores", machine.cores},
          {"governor", or_null(machine.governor)},
          {"hypervisor", or_null(machine.hypervisor)}};
}

int ranks_beside_rank_0(const std::vector<RankFacts>& ranks) {
  return static_cast<int>(std::count_if(ranks.begin(), ranks.end(), [&](const RankFacts& rank) {
    return rank.host == ranks.front().host && rank.boot == ranks.front().boot;
  }));
}

// The number of the kernel that each rank runs on, in the order in which they appear: hosts that share one are
// containers or network namespaces of one machine.
Json kernels_list(const std::vector<RankFacts>& ranks) {
  std::map<std::string, std::size_t> number;
  Json list = Json::array();
  for (const RankFacts& rank : ranks) list.push_back(number.try_emplace(rank.boot, number.size()).first->second);
  return list;
}

Json place_object(const RankFacts& rank) {
  if (!rank.place) return nullptr;
  return {{"socket", rank.place->socket}, {"numa_node", rank.place->numa_node}, {"cache", rank.place->cache}};
}

Json pair_groups_list(const std::vector<PairGroups>& groups) {
  Json list = Json::array();
  for (const PairGroups& one : groups) {
    list.push_back({{"between", Json::array({one.between[0], one.between[1]})}, {"pairs", one.clients.size()}});
  }
  return list;
}

Json warnings_list(const MachineFacts& machine, const ClockFacts& clock, int local_ranks) {
  Json list = Json::array();
  // Nothing of the machine shows in virtual time.
  if (clock.name == "virtual") return list;
  for (const Warning& warning : machine_warnings(machine, clock, local_ranks)) {
    list.push_back(
        {{"fact", warning.fact}, {"number", warning.number}, {"unit", warning.unit}, {"remedy", warning.remedy}});
  }
  return list;
}

}  // namespace

std::string rank_facts_json(const RankFacts& facts) {
  return text_of({{"host", facts.host}, {"boot", facts.boot}, {"cpus", facts.cpus}, {"place", place_object(facts)}});
}

RankFacts parse_rank_facts(std::string_view json) {
  try {
    const Json object = Json::parse(json);
    RankFacts facts{object.at("host").get<std::string>(), object.at("boot").get<std::string>(),
                    object.at("cpus").get<std::vector<int>>(), std::nullopt};
    if (const Json& place = object.at("place"); !place.is_null()) {
      facts.place = Cpu{facts.cpus.at(0), place.at("socket").get<int>(), place.at("numa_node").get<int>(),
                        place.at("cache").get<int>()};
    }
    return facts;
  } catch (const Json::exception& error) {
    throw Corrupt(std::string("what a rank told of its host arrived damaged: ") + error.what());
  }
}

std::string transport_json(std::string_view name, std::string_view summary, std::string_view options,
                           const Capabilities& capabilities, const Availability& availability) {
  return text_of({{"name", name},
                  {"summary", summary},
                  {"options", options},
                  {"capabilities", capabilities_object(capabilities)},
                  {"availability",
                   {{"usable", availability.usable},
                    {"why", availability.why},
                    {"remedy", availability.remedy},
                    {"choices", availability.choices}}}});
}

std::string not_built_json(std::string_view name, std::string_view needs) {
  return text_of({{"name", name}, {"needs", needs}});
}

std::string machine_json(const ClockFacts& clock, std::string_view why_not, int local_ranks) {
  const MachineFacts machine = read_machine_facts();
  return text_of({{"clock", clock_object(clock)},
                  {"why_no_counter", why_not.empty() ? Json(nullptr) : Json(why_not)},
                  {"machine", machine_object(machine)},
                  {"warnings", warnings_list(machine, clock, local_ranks)}});
}

std::string header_json(const RunSettings& settings, Endpoint& endpoint, const World& world) {
  const std::vector<RankFacts>& ranks = world.ranks;
  const MachineFacts machine = read_machine_facts();
  const ClockFacts clock = endpoint.clock_facts();
  Json hosts = Json::array();
  Json binding = Json::array();
  Json nodes = Json::array();
  Json places = Json::array();
  for (const RankFacts& rank : ranks) {
    hosts.push_back(rank.host);
    binding.push_back(rank.cpus);
    nodes.push_back(world.nodes[node_of(world.nodes, static_cast<Rank>(nodes.size()))].name);
    places.push_back(place_object(rank));
  }
  return text_of({{"type", "header"},
                  {"schema", "chiplog.run/1"},
                  {"chiplog", settings.version},
                  {"run_id", random_id()},
                  {"created", now_utc()},
                  {"target", settings.target},
                  {"transport", endpoint.transport_name()},
                  {"ranks", ranks.size()},
                  {"seed", settings.seed},
                  {"launch", settings.launch},
                  {"clock", clock_object(clock)},
                  {"hosts", hosts},
                  {"nodes", nodes},
                  {"kernels", endpoint.hosts() == Hosts::real ? kernels_list(ranks) : Json(nullptr)},
                  {"binding", binding},
                  {"places", places},
                  {"placement", world.binding.placement},
                  {"placements_differ", world.binding.placements_differ},
                  {"pair_groups", pair_groups_list(world.pair_groups)},
                  {"machine", machine_object(machine)},
                  {"options", Json::parse(endpoint.options_json())},
                  {"capabilities", capabilities_object(endpoint.capabilities())},
                  {"mpi", Json::parse(endpoint.mpi_json())},
                  {"plan", nullptr},
                  {"warnings", warnings_list(machine, clock, ranks_beside_rank_0(ranks))}});
}

std::string footer_json(const FooterFacts& facts) {
  Json object{{"type", "footer"},
              {"records", facts.records},
              {"complete", facts.complete},
              {"reason", facts.reason},
              {"elapsed_ns", facts.elapsed_ns}};
  if (facts.frequency_hz > 0.0 && facts.measured_frequency_hz > 0.0) {
    object["clock"] = {{"frequency_hz", facts.measured_frequency_hz},
                       {"relative_drift", facts.measured_frequency_hz / facts.frequency_hz - 1.0}};
  }
  return text_of(object);
}

std::string error_json(const Error& error) {
  Json json = {{"type", "error"}, {"exit", static_cast<int>(error.exit_code())}, {"message", error.what()}};
  if (error.cause()) json["rank"] = *error.cause();
  return text_of(json);
}

}  // namespace chiplog
