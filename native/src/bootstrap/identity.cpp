#include <array>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <string>

#include "bootstrap/bootstraps.hpp"
#include "chiplog/error.hpp"

namespace chiplog {
namespace {

struct LauncherVariables {
  std::string_view launcher;
  const char* rank;
  std::array<const char*, 3> sizes;  // the first that is set counts; null ends the list
};

constexpr LauncherVariables own_variables{"chiplog", "CHIPLOG_RANK", {"CHIPLOG_SIZE", nullptr, nullptr}};

// Open MPI's launcher also sets PMIX_RANK, and Slurm's may set any of the others: the more specific ones come first.
constexpr std::array<LauncherVariables, 4> launchers{{
    {"Open MPI", "OMPI_COMM_WORLD_RANK", {"OMPI_COMM_WORLD_SIZE", nullptr, nullptr}},
    {"PMIx", "PMIX_RANK", {"PMIX_SIZE", "OMPI_COMM_WORLD_SIZE", "SLURM_NTASKS"}},
    {"PMI", "PMI_RANK", {"PMI_SIZE", nullptr, nullptr}},
    {"Slurm", "SLURM_PROCID", {"SLURM_NTASKS", nullptr, nullptr}},
}};

struct Variable {
  const char* name;
  const char* value;
};

std::optional<Variable> first_set(const Environment& environment, const std::array<const char*, 3>& names) {
  for (const char* name : names) {
    if (name == nullptr) break;
    if (const char* value = environment(name)) return Variable{name, value};
  }
  return std::nullopt;
}

int whole_number(const Variable& variable, int low, int high) {
  int number = 0;
  const char* end = variable.value + std::strlen(variable.value);
  const auto [stop, error] = std::from_chars(variable.value, end, number);
  if (error != std::errc{} || stop != end || number < low || number > high) {
    throw UsageError("environment variable " + std::string(variable.name) + " accepts a whole number from " +
                     std::to_string(low) + " to " + std::to_string(high) + ", not '" + variable.value + "'");
  }
  return number;
}

std::optional<LauncherIdentity> identity_from(const Environment& environment, const LauncherVariables& variables) {
  constexpr int max_ranks = 1 << 24;
  const char* rank_text = environment(variables.rank);
  const auto size_variable = first_set(environment, variables.sizes);
  if (rank_text == nullptr || !size_variable) return std::nullopt;
  const int size = whole_number(*size_variable, 1, max_ranks);
  return LauncherIdentity{whole_number({variables.rank, rank_text}, 0, size - 1), size, variables.launcher};
}

}  // namespace

std::optional<LauncherIdentity> launcher_identity(const Environment& environment) {
  const bool own_rank = environment("CHIPLOG_RANK") != nullptr;
  const bool own_size = environment("CHIPLOG_SIZE") != nullptr;
  if (own_rank != own_size) {
    throw UsageError(std::string("environment variable ") + (own_rank ? "CHIPLOG_SIZE" : "CHIPLOG_RANK") +
                     " is missing: it goes with " + (own_rank ? "CHIPLOG_RANK" : "CHIPLOG_SIZE"));
  }
  if (own_rank) return identity_from(environment, own_variables);
  for (const LauncherVariables& variables : launchers) {
    if (const auto identity = identity_from(environment, variables)) return identity;
  }
  return std::nullopt;
}

std::optional<LauncherIdentity> launcher_identity() {
  return launcher_identity([](const char* name) -> const char* { return std::getenv(name); });
}

std::unique_ptr<Bootstrap> make_bootstrap_from_environment(std::chrono::nanoseconds time_limit) {
  const char* rendezvous = std::getenv("CHIPLOG_RENDEZVOUS");
  if (rendezvous == nullptr) return nullptr;
  const RendezvousPoint point = parse_rendezvous_point(rendezvous);
  const bool searches = point.host == "search";
  const auto identity = launcher_identity();
  if (!identity) {
    throw UsageError(
        "CHIPLOG_RENDEZVOUS is set, but no launcher tells which rank this is: set CHIPLOG_RANK and CHIPLOG_SIZE");
  }
  const char* given_secret = std::getenv("CHIPLOG_SECRET");
  const std::string_view secret = given_secret == nullptr ? "" : given_secret;
  if (searches) {
    const char* file = std::getenv("CHIPLOG_MEETING_FILE");
    const RendezvousSearch search{point.port, file == nullptr ? "" : file};
    return make_searching_bootstrap(search, identity->rank, identity->size, secret, time_limit);
  }
  return make_rendezvous_bootstrap(point, identity->rank, identity->size, secret, time_limit);
}

}  // namespace chiplog
