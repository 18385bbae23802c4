// A library that is loaded at run time, so that the probe also starts where it is absent.
#pragma once

#include <initializer_list>
#include <string>
#include <utility>

namespace chiplog {

class SharedLibrary {
 public:
  // The first of `names` that the dynamic linker finds. The library stays loaded until the process ends: threads and
  // exit handlers of its own may outlive this object. Error with the linker's reason if there is none.
  static SharedLibrary open(std::initializer_list<const char*> names);

  // The function of this name, as `Function`. Error if the library has none.
  template <class Function>
  [[nodiscard]] Function* function(const char* symbol) const {
    return reinterpret_cast<Function*>(address_of(symbol));
  }
  [[nodiscard]] const std::string& name() const { return name_; }

 private:
  SharedLibrary(std::string name, void* handle) : name_(std::move(name)), handle_(handle) {}
  [[nodiscard]] void* address_of(const char* symbol) const;

  std::string name_;
  void* handle_;
};

}  // namespace chiplog
