#include <algorithm>
#include <array>
#include <charconv>
#include <string_view>

#include "simulation/goal.hpp"

namespace chiplog::simulation {
namespace {

constexpr std::size_t piece_bytes = 1 << 20;

class Text {
 public:
  explicit Text(const ByteSink& sink) : sink_(sink) { piece_.reserve(piece_bytes + 256); }

  Text& operator<<(std::string_view text) {
    piece_.insert(piece_.end(), text.begin(), text.end());
    return *this;
  }
  Text& operator<<(std::uint64_t number) {
    std::array<char, 20> digits{};
    const auto [end, error] = std::to_chars(digits.data(), digits.data() + digits.size(), number);
    return *this << std::string_view(digits.data(), end);
  }
  void end_line() {
    piece_.push_back('\n');
    if (piece_.size() >= piece_bytes) flush();
  }
  void flush() {
    sink_(piece_);
    piece_.clear();
  }

 private:
  const ByteSink& sink_;
  std::vector<char> piece_;
};

// The indices of `items`, stably sorted by rank; begins[r] is where those of rank r begin.
struct ByRank {
  std::vector<std::uint32_t> begins;
  std::vector<std::uint32_t> items;

  template <class RankOf>
  ByRank(std::uint32_t ranks, std::size_t count, RankOf rank_of) : begins(ranks + std::size_t{2}), items(count) {
    for (std::size_t i = 0; i < count; ++i) ++begins[rank_of(i) + 2];
    for (std::size_t rank = 2; rank < begins.size(); ++rank) begins[rank] += begins[rank - 1];
    for (std::size_t i = 0; i < count; ++i) items[begins[rank_of(i) + 1]++] = static_cast<std::uint32_t>(i);
  }
  [[nodiscard]] std::span<const std::uint32_t> of(std::uint32_t rank) const {
    return {items.data() + begins[rank], items.data() + begins[rank + 1]};
  }
};

void write_or_any(Text& text, std::uint32_t number) {
  if (number == wildcard) {
    text << "-1";
  } else {
    text << number;
  }
}

void write_operation(Text& text, const Operation& operation) {
  if (operation.kind == Kind::calc) {
    text << "calc " << operation.amount;
  } else {
    text << (operation.kind == Kind::send ? "send " : "recv ") << operation.amount
         << (operation.kind == Kind::send ? "b to " : "b from ");
    write_or_any(text, operation.peer);
    text << " tag ";
    write_or_any(text, operation.tag);
  }
  if (operation.cpu != 0) text << " cpu " << operation.cpu;
  if (operation.nic != 0) text << " nic " << operation.nic;
}

class Writer {
 public:
  Writer(const Schedule& schedule, const ByteSink& sink)
      : schedule_(schedule),
        text_(sink),
        operations_(schedule.ranks, schedule.operations.size(),
                    [&](std::size_t i) { return schedule.operations[i].rank; }),
        labels_(schedule.operations.size()) {}

  void write() {
    const ByRank ends = by_rank(schedule_.requires_end);
    const ByRank starts = by_rank(schedule_.requires_start);
    text_ << "num_ranks " << schedule_.ranks;
    text_.end_line();
    for (std::uint32_t rank = 0; rank < schedule_.ranks; ++rank) {
      text_.end_line();
      text_ << "rank " << rank << " {";
      text_.end_line();
      write_operations(rank);
      write_dependencies(" requires l", schedule_.requires_end, ends.of(rank));
      write_dependencies(" irequires l", schedule_.requires_start, starts.of(rank));
      text_ << "}";
      text_.end_line();
    }
    text_.flush();
  }

 private:
  [[nodiscard]] ByRank by_rank(std::span<const Dependency> dependencies) const {
    return {schedule_.ranks, dependencies.size(),
            [&, this](std::size_t i) { return schedule_.operations[dependencies[i].operation].rank; }};
  }

  void write_operations(std::uint32_t rank) {
    std::uint32_t label = 0;
    for (const std::uint32_t operation : operations_.of(rank)) {
      labels_[operation] = ++label;
      text_ << "l" << label << ": ";
      write_operation(text_, schedule_.operations[operation]);
      text_.end_line();
    }
  }

  void write_dependencies(std::string_view how, std::span<const Dependency> all,
                          std::span<const std::uint32_t> of_rank) {
    for (const std::uint32_t index : of_rank) {
      text_ << "l" << labels_[all[index].operation] << how << labels_[all[index].on];
      text_.end_line();
    }
  }

  const Schedule& schedule_;
  Text text_;
  ByRank operations_;
  std::vector<std::uint32_t> labels_;
};

}  // namespace

void write_goal(const Schedule& schedule, const ByteSink& sink) {
  check(schedule);
  Writer(schedule, sink).write();
}

}  // namespace chiplog::simulation
