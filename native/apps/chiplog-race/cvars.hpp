// The MPI's control variables (MPI_T): what it lets a program choose while it runs.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace chiplog::race {

// Names of control variables with the whole numbers that they are set to.
using Settings = std::vector<std::pair<std::string, int>>;

// Opens and closes the MPI's tool interface.
class Tools {
 public:
  Tools();
  ~Tools();
  Tools(const Tools&) = delete;
  Tools& operator=(const Tools&) = delete;
};

// Prints a JSON line for each control variable of whole numbers whose name contains `word`.
void print_cvars(const std::string& word);

// Sets control variables for its lifetime, and puts their old values back.
class Applied {
 public:
  // RunFailed where the MPI has no such variable, or refuses the value.
  explicit Applied(const Settings& settings);
  ~Applied();
  Applied(const Applied&) = delete;
  Applied& operator=(const Applied&) = delete;

 private:
  Settings before_;
};

}  // namespace chiplog::race
