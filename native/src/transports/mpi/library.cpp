#include "transports/mpi/library.hpp"

#include <mpi.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <string_view>
#include <vector>

#include "core/json_object.hpp"

extern "C" char** environ;

namespace chiplog {
namespace {

using Settings = std::map<std::string, std::string>;

// Variables by which users and sites tune an MPI or the layers below it.
constexpr std::array<std::string_view, 8> tuning_prefixes{"OMPI_MCA_", "PMIX_MCA_", "PRTE_MCA_", "MPIR_",
                                                          "MPICH_",    "UCX_",      "FI_",       "I_MPI_"};
// Variables that a launcher sets for its ranks. They differ in every run, may be secret, and never affect messages.
constexpr std::array<std::string_view, 17> launcher_prefixes{"MPIR_CVAR_CH3_INTERFACE_HOSTNAME",
                                                             "OMPI_MCA_PREFIXES",
                                                             "OMPI_MCA_cpu_type",
                                                             "OMPI_MCA_num_procs",
                                                             "PMIX_MCA_psec",
                                                             "OMPI_MCA_orte_",
                                                             "OMPI_MCA_ess",
                                                             "OMPI_MCA_prte_",
                                                             "OMPI_MCA_pmix",
                                                             "OMPI_MCA_plm",
                                                             "OMPI_MCA_initial_",
                                                             "PRTE_MCA_ess",
                                                             "PRTE_MCA_prte",
                                                             "I_MPI_HYDRA_",
                                                             "I_MPI_INTERNAL_",
                                                             "I_MPI_INFO_",
                                                             "OMPI_MCA_hwloc_"};

bool begins_with_one_of(std::string_view name, auto const& prefixes) {
  return std::any_of(prefixes.begin(), prefixes.end(),
                     [&](std::string_view prefix) { return name.starts_with(prefix); });
}

void add_environment(Settings& settings) {
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view variable(*entry);
    const std::size_t equals = variable.find('=');
    const std::string_view name = variable.substr(0, equals);
    if (equals == std::string_view::npos || !begins_with_one_of(name, tuning_prefixes)) continue;
    if (begins_with_one_of(name, launcher_prefixes)) continue;
    settings.emplace(name, variable.substr(equals + 1));
  }
}

// "MPICH Version:\t5.0.2" and "Open MPI v5.0.11, package: ..." alike, as one line.
std::string first_line_of(std::string_view text) {
  std::string line;
  for (const char c : text.substr(0, text.find_first_of(std::string_view("\n\0", 2)))) {
    const bool blank = c == ' ' || c == '\t' || c == '\r';
    if (!blank) {
      line += c;
    } else if (!line.empty() && line.back() != ' ') {
      line += ' ';
    }
  }
  while (!line.empty() && line.back() == ' ') line.pop_back();
  return line;
}

std::string library_version() {
  std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> text{};
  int length = 0;
  MPI_Get_library_version(text.data(), &length);
  return first_line_of({text.data(), static_cast<std::size_t>(std::max(length, 0))});
}

#if defined(CHIPLOG_SMPI)

void add_control_variables(Settings&) {}  // SMPI has no MPI_T

#else

// The limits and choices that decide how a message between two ranks travels, by their names in MPI_T.
constexpr std::array<const char*, 16> control_variables{
    "pml",
    "btl",
    "btl_vader_eager_limit",
    "btl_vader_max_inline_send",
    "btl_vader_single_copy_mechanism",
    "btl_sm_eager_limit",
    "btl_sm_max_inline_send",
    "btl_tcp_eager_limit",
    "smsc",
    "mpi_yield_when_idle",
    "MPIR_CVAR_CH4_SHM_POSIX_EAGER",
    "MPIR_CVAR_SHM_EAGER_MAX_SZ",
    "MPIR_CVAR_CH4_IPC_CPU_THRESHOLD",
    "MPIR_CVAR_CH4_CMA_ENABLE",
    "MPIR_CVAR_CH4_NETMOD",
    "MPIR_CVAR_NOLOCAL",
};

template <class Value>
std::optional<std::string> read_number(MPI_T_cvar_handle handle) {
  Value value{};
  if (MPI_T_cvar_read(handle, &value) != MPI_SUCCESS) return std::nullopt;
  return std::to_string(value);
}

std::optional<std::string> read_text(MPI_T_cvar_handle handle, int count) {
  std::vector<char> text(static_cast<std::size_t>(std::max(count, 1)) + 1, '\0');
  if (MPI_T_cvar_read(handle, text.data()) != MPI_SUCCESS) return std::nullopt;
  return std::string(text.data());
}

std::optional<std::string> read_value(MPI_T_cvar_handle handle, MPI_Datatype type, int count) {
  if (type == MPI_CHAR) return read_text(handle, count);
  if (count != 1) return std::nullopt;
  if (type == MPI_INT) return read_number<int>(handle);
  if (type == MPI_UNSIGNED) return read_number<unsigned>(handle);
  if (type == MPI_UNSIGNED_LONG) return read_number<unsigned long>(handle);
  if (type == MPI_UNSIGNED_LONG_LONG) return read_number<unsigned long long>(handle);
  return std::nullopt;
}

std::optional<std::string> control_variable(const char* name) {
  int index = 0;
  if (MPI_T_cvar_get_index(name, &index) != MPI_SUCCESS) return std::nullopt;
  std::array<char, 256> found{};
  int found_length = static_cast<int>(found.size());
  int description_length = 0;
  int verbosity = 0;
  int binding = 0;
  int scope = 0;
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_T_enum values = MPI_T_ENUM_NULL;
  if (MPI_T_cvar_get_info(index, found.data(), &found_length, &verbosity, &type, &values, nullptr, &description_length,
                          &binding, &scope) != MPI_SUCCESS ||
      binding != MPI_T_BIND_NO_OBJECT) {
    return std::nullopt;
  }
  MPI_T_cvar_handle handle = MPI_T_CVAR_HANDLE_NULL;
  int count = 0;
  if (MPI_T_cvar_handle_alloc(index, nullptr, &handle, &count) != MPI_SUCCESS) return std::nullopt;
  const std::optional<std::string> value = read_value(handle, type, count);
  MPI_T_cvar_handle_free(&handle);
  return value;
}

void add_control_variables(Settings& settings) {
  int provided = 0;
  if (MPI_T_init_thread(MPI_THREAD_SINGLE, &provided) != MPI_SUCCESS) return;
  for (const char* name : control_variables) {
    const std::optional<std::string> value = control_variable(name);
    if (value && !value->empty()) settings.emplace(name, *value);
  }
  MPI_T_finalize();
}

#endif

}  // namespace

std::string describe_mpi_json() {
  Settings settings;
  add_environment(settings);
  add_control_variables(settings);
  int version = 0;
  int subversion = 0;
  MPI_Get_version(&version, &subversion);
  JsonObject in_force;
  for (const auto& [name, value] : settings) in_force.add(name, value);
  return JsonObject()
      .add("library", library_version())
      .add("standard", std::to_string(version) + "." + std::to_string(subversion))
      .add_json("settings", in_force.text())
      .text();
}

}  // namespace chiplog
