#include "cvars.hpp"

#include <mpi.h>

#include <array>
#include <cstdio>
#include <map>

#include "chiplog/error.hpp"
#include "core/json_object.hpp"

namespace chiplog::race {

#if defined(CHIPLOG_SMPI)  // has no tool interface

Tools::Tools() = default;
Tools::~Tools() = default;
void print_cvars(const std::string&) {}
Applied::Applied(const Settings& settings) {
  if (!settings.empty()) throw Error(ExitCode::run_failed, "SMPI has no control variables");
}
Applied::~Applied() = default;

#else

namespace {

constexpr int name_room = 256;
constexpr int description_room = 1 << 14;

struct Variable {
  int index = 0;
  std::string name;
  std::string description;
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_T_enum choices = MPI_T_ENUM_NULL;
};

std::vector<Variable> all_variables() {
  int count = 0;
  MPI_T_cvar_get_num(&count);
  std::vector<Variable> found;
  for (int index = 0; index < count; ++index) {
    std::string name(name_room, '\0');
    std::string description(description_room, '\0');
    int name_length = name_room;
    int description_length = description_room;
    int verbosity = 0;
    int binding = 0;
    int scope = 0;
    Variable one{index, {}, {}, MPI_DATATYPE_NULL, MPI_T_ENUM_NULL};
    if (MPI_T_cvar_get_info(index, name.data(), &name_length, &verbosity, &one.type, &one.choices, description.data(),
                            &description_length, &binding, &scope) != MPI_SUCCESS) {
      continue;
    }
    one.name = name.c_str();
    one.description = description.c_str();
    found.push_back(one);
  }
  return found;
}

const std::map<std::string, int>& indices() {
  static const std::map<std::string, int> known = [] {
    std::map<std::string, int> found;
    for (const Variable& one : all_variables()) {
      if (one.type == MPI_INT) found.emplace(one.name, one.index);
    }
    return found;
  }();
  return known;
}

int index_of(const std::string& name) {
  const auto found = indices().find(name);
  if (found == indices().end()) throw Error(ExitCode::run_failed, "the MPI has no control variable " + name);
  return found->second;
}

// Reads the variable into `value`, or writes it from there.
int access(int index, int& value, bool writes) {
  MPI_T_cvar_handle handle = MPI_T_CVAR_HANDLE_NULL;
  int count = 0;
  int code = MPI_T_cvar_handle_alloc(index, nullptr, &handle, &count);
  if (code != MPI_SUCCESS) return code;
  if (count != 1) code = MPI_ERR_OTHER;
  if (code == MPI_SUCCESS) code = writes ? MPI_T_cvar_write(handle, &value) : MPI_T_cvar_read(handle, &value);
  MPI_T_cvar_handle_free(&handle);
  return code;
}

std::vector<std::string> items_of(MPI_T_enum choices) {
  std::vector<std::string> found;
  std::array<char, name_room> text{};
  int count = 0;
  int length = name_room;
  if (choices == MPI_T_ENUM_NULL || MPI_T_enum_get_info(choices, &count, text.data(), &length) != MPI_SUCCESS) {
    return found;
  }
  for (int place = 0; place < count; ++place) {
    int value = 0;
    length = name_room;
    if (MPI_T_enum_get_item(choices, place, &value, text.data(), &length) != MPI_SUCCESS) continue;
    found.push_back(JsonObject().add("value", value).add("name", text.data()).text());
  }
  return found;
}

}  // namespace

Tools::Tools() {
  int provided = 0;
  if (MPI_T_init_thread(MPI_THREAD_SINGLE, &provided) != MPI_SUCCESS)
    throw Error(ExitCode::run_failed, "the MPI has no tool interface");
}

Tools::~Tools() { MPI_T_finalize(); }

void print_cvars(const std::string& word) {
  for (const Variable& one : all_variables()) {
    int value = 0;
    if (one.type != MPI_INT || one.name.find(word) == std::string::npos) continue;
    if (access(one.index, value, false) != MPI_SUCCESS) continue;
    std::printf("%s\n", JsonObject()
                            .add("type", "cvar")
                            .add("name", one.name)
                            .add("value", value)
                            .add("description", one.description)
                            .add_json("choices", json_array(items_of(one.choices)))
                            .text()
                            .c_str());
  }
}

Applied::Applied(const Settings& settings) {
  for (const auto& [name, wanted] : settings) {
    const int index = index_of(name);
    int before = 0;
    int value = wanted;
    if (access(index, before, false) != MPI_SUCCESS || access(index, value, true) != MPI_SUCCESS) {
      throw Error(ExitCode::run_failed, "the MPI does not let " + name + " be set to " + std::to_string(wanted));
    }
    before_.emplace_back(name, before);
  }
}

Applied::~Applied() {
  for (auto& [name, value] : before_) access(indices().at(name), value, true);
}

#endif

}  // namespace chiplog::race
