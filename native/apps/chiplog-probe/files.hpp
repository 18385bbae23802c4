// Where requests come from and records go.
#pragma once

#include <string>

namespace chiplog {

// Closes what it opened; standard input and output stay open.
class Descriptor {
 public:
  // "-" is standard input. UsageError if the file can't be opened.
  static Descriptor open_requests(const std::string& path);
  // "-" is standard output. UsageError if the file holds something already or can't be made.
  static Descriptor open_records(const std::string& path);

  // From now on what libraries print to standard output goes to standard error, and only records go where it went:
  // UCX, for one, prints its warnings there.
  static void keep_standard_output_for_records();

  ~Descriptor();
  Descriptor(Descriptor&& other) noexcept : number_(other.number_), owned_(other.owned_) { other.owned_ = false; }
  Descriptor& operator=(Descriptor&&) = delete;

  [[nodiscard]] int number() const { return number_; }

 private:
  Descriptor(int number, bool owned) : number_(number), owned_(owned) {}

  int number_;
  bool owned_;
};

}  // namespace chiplog
