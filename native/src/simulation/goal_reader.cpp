#include <algorithm>
#include <cstddef>
#include <limits>
#include <string>
#include <string_view>

#include "simulation/goal.hpp"
#include "simulation/goal_scanner.hpp"

namespace chiplog::simulation {
namespace {

constexpr std::uint64_t most_cpus = std::numeric_limits<std::uint8_t>::max();

// Labels of one rank, by hash.
class Labels {
 public:
  void clear() {
    names_.clear();
    used_ = 0;
    if (++generation_ != 0) return;
    slots_.assign(slots_.size(), {});
    generation_ = 1;
  }
  // The operation with this label, or no_operation.
  [[nodiscard]] std::uint32_t find(std::string_view name) const {
    const Slot& slot = slots_[place_of(name)];
    return slot.generation == generation_ ? slot.operation : no_operation;
  }
  void insert(std::string_view name, std::uint32_t operation) {
    slots_[place_of(name)] = {generation_, operation, names_.size(), name.size()};
    names_ += name;
    if (++used_ > slots_.size() / 2) grow();
  }

 private:
  struct Slot {
    std::uint32_t generation = 0;  // taken if it is the present one
    std::uint32_t operation = 0;
    std::size_t begin = 0;
    std::size_t bytes = 0;
  };

  [[nodiscard]] static std::size_t hash_of(std::string_view name) {
    std::uint64_t hash = 0xCBF29CE484222325U;  // FNV-1a
    for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001B3U;
    return hash ^ (hash >> 32);
  }
  [[nodiscard]] std::size_t place_of(std::string_view name) const {
    for (std::size_t place = hash_of(name) & (slots_.size() - 1);; place = (place + 1) & (slots_.size() - 1)) {
      const Slot& slot = slots_[place];
      if (slot.generation != generation_ || std::string_view(names_).substr(slot.begin, slot.bytes) == name)
        return place;
    }
  }
  void grow() {
    std::vector<Slot> old(slots_.size() * 2);
    old.swap(slots_);
    for (const Slot& slot : old)
      if (slot.generation == generation_)
        slots_[place_of(std::string_view(names_).substr(slot.begin, slot.bytes))] = slot;
  }

  std::vector<Slot> slots_{64};
  std::string names_;
  std::uint32_t generation_ = 1;
  std::size_t used_ = 0;
};

class Reader {
 public:
  explicit Reader(const ByteSource& source) : scanner_(source) {}

  OwnedSchedule read() {
    next();
    skip_line_ends();
    expect("num_ranks");
    read_.ranks = static_cast<std::uint32_t>(number_up_to(wildcard - 1, "the number of ranks"));
    if (read_.ranks == 0) throw GoalError(scanner_.line(), "a schedule needs at least 1 rank");
    for (rank_ = 0; rank_ < read_.ranks; ++rank_) rank();
    skip_line_ends();
    if (scanner_.token() != Token::end) throw scanner_.wrong("the end of the file");
    return std::move(read_);
  }

 private:
  void next() { scanner_.advance(); }

  void skip_line_ends() {
    while (scanner_.token() == Token::line_end) next();
  }

  void expect(std::string_view word) {
    if (!scanner_.is(word)) throw scanner_.wrong("'" + std::string(word) + "'");
    next();
  }

  std::uint64_t number_up_to(std::uint64_t most, std::string_view what) {
    if (scanner_.token() != Token::number) throw scanner_.wrong(what);
    const std::uint64_t number = scanner_.number();
    if (number > most)
      throw GoalError(scanner_.line(), "'" + std::string(scanner_.text()) + "': " + std::string(what) + " is at most " +
                                           std::to_string(most));
    next();
    return number;
  }

  // Ranks come in order, so a wrong `num_ranks` in the text allocates nothing.
  void rank() {
    skip_line_ends();
    const std::string wanted = "'rank " + std::to_string(rank_) + "'";
    if (!scanner_.is("rank")) throw scanner_.wrong(wanted);
    next();
    if (scanner_.token() != Token::number || scanner_.number() != rank_) throw scanner_.wrong(wanted);
    next();
    skip_line_ends();
    expect("{");
    labels_.clear();
    for (skip_line_ends(); !scanner_.is("}"); skip_line_ends()) statement();
    next();
  }

  void statement() {
    if (scanner_.token() != Token::word) throw scanner_.wrong("an operation, a label or '}'");
    if (!operation()) labelled();
    if (scanner_.token() != Token::line_end && !scanner_.is("}")) throw scanner_.wrong("the end of the line");
  }

  void labelled() {
    const std::string label(scanner_.text());
    next();
    if (scanner_.is(":")) {
      if (labels_.find(label) != no_operation)
        throw GoalError(scanner_.line(), "label '" + label + "' stands on rank " + std::to_string(rank_) + " twice");
      next();
      labels_.insert(label, static_cast<std::uint32_t>(read_.operations.size()));
      if (!operation()) throw scanner_.wrong("'send', 'recv' or 'calc'");
    } else if (scanner_.is("requires")) {
      dependency(label, read_.requires_end);
    } else if (scanner_.is("irequires")) {
      dependency(label, read_.requires_start);
    } else {
      throw scanner_.wrong("':', 'requires' or 'irequires'");
    }
  }

  void dependency(const std::string& label, std::vector<Dependency>& list) {
    const std::uint32_t operation = known(label);
    next();
    if (scanner_.token() != Token::word) throw scanner_.wrong("a label");
    list.push_back({operation, known(scanner_.text())});
    next();
  }

  std::uint32_t known(std::string_view label) {
    const std::uint32_t operation = labels_.find(label);
    if (operation == no_operation)
      throw GoalError(scanner_.line(),
                      "label '" + std::string(label) + "' does not stand above on rank " + std::to_string(rank_));
    return operation;
  }

  // False if the word is not an operation.
  bool operation() {
    Operation made{0, rank_, 0, 0, Kind::calc, 0, 0, 0};
    const std::uint64_t line = scanner_.line();
    if (scanner_.is("calc")) {
      next();
      made.amount = number_up_to(std::numeric_limits<std::uint64_t>::max(), "a number of nanoseconds");
    } else if (scanner_.is("send")) {
      made.kind = Kind::send;
      message(made, "to");
    } else if (scanner_.is("recv")) {
      made.kind = Kind::receive;
      message(made, "from");
    } else {
      return false;
    }
    attributes(made);
    if (read_.operations.size() >= most_operations) throw GoalError(line, "a schedule holds up to 2^30 operations");
    read_.operations.push_back(made);
    read_.lines.push_back(static_cast<std::uint32_t>(std::min<std::uint64_t>(line, wildcard)));
    return true;
  }

  void message(Operation& made, std::string_view direction) {
    next();
    made.amount = number_up_to(std::numeric_limits<std::uint64_t>::max(), "a number of bytes");
    expect("b");
    expect(direction);
    if (made.kind == Kind::receive && scanner_.token() == Token::minus_one) {
      made.peer = wildcard;
      next();
    } else {
      made.peer = static_cast<std::uint32_t>(number_up_to(read_.ranks - 1, "a rank"));
    }
  }

  void attributes(Operation& made) {
    bool has_tag = made.kind == Kind::calc;
    bool has_cpu = false;
    bool has_nic = false;
    for (;;) {
      if (!has_tag && scanner_.is("tag")) {
        has_tag = true;
        tag(made);
      } else if (!has_cpu && scanner_.is("cpu")) {
        has_cpu = true;
        next();
        made.cpu = static_cast<std::uint8_t>(number_up_to(most_cpus, "a CPU"));
      } else if (!has_nic && scanner_.is("nic")) {
        has_nic = true;
        next();
        made.nic = static_cast<std::uint8_t>(number_up_to(most_cpus, "a NIC"));
      } else {
        return;
      }
    }
  }

  void tag(Operation& made) {
    next();
    if (made.kind == Kind::receive && scanner_.token() == Token::minus_one) {
      made.tag = wildcard;
      next();
    } else {
      made.tag = static_cast<std::uint32_t>(number_up_to(wildcard - 1, "a tag"));
    }
  }

  GoalScanner scanner_;
  OwnedSchedule read_;
  Labels labels_;
  std::uint32_t rank_ = 0;
};

}  // namespace

OwnedSchedule read_goal(const ByteSource& source) { return Reader(source).read(); }

}  // namespace chiplog::simulation
