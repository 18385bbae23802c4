// Splits a GOAL text into tokens, one at a time; the text is read in blocks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "simulation/goal.hpp"

namespace chiplog::simulation {

enum class Token : std::uint8_t { word, number, minus_one, mark, line_end, end };

class GoalScanner {
 public:
  explicit GoalScanner(const ByteSource& source) : source_(source), buffer_(buffer_bytes + 1) {}

  // Advances to the next token. Throws GoalError at bytes that begin no token, and at words of 255 bytes or more.
  void advance();
  [[nodiscard]] Token token() const { return token_; }
  // The text of the token; valid until advance().
  [[nodiscard]] std::string_view text() const { return text_; }
  [[nodiscard]] std::uint64_t number() const { return number_; }
  [[nodiscard]] std::uint64_t line() const { return line_; }

  [[nodiscard]] bool is(std::string_view word) const { return text_ == word && token_ != Token::line_end; }
  // The error for a token that stands where `accepted` belongs.
  [[nodiscard]] GoalError wrong(std::string_view accepted) const;

 private:
  static constexpr std::size_t buffer_bytes = 1 << 20;
  static constexpr std::size_t most_token_bytes = 255;

  // Makes sure that the whole next token, or the end of the text, is in the buffer.
  void look_ahead() {
    if (filled_ - place_ <= most_token_bytes && !finished_) refill();
  }
  void refill();
  // The byte `ahead` bytes after the current place, at most most_token_bytes after look_ahead(); 0 at the end of the
  // text.
  [[nodiscard]] char peek(std::size_t ahead) const { return buffer_[place_ + ahead]; }
  void skip_blanks_and_comments();
  void skip_line_comment();
  void skip_block_comment();
  void scan_word();
  void scan_number();
  void take(Token token, std::size_t bytes);

  const ByteSource& source_;
  std::vector<char> buffer_;  // a zero stands behind what is filled
  std::size_t place_ = 0;
  std::size_t filled_ = 0;
  bool finished_ = false;
  Token token_ = Token::line_end;
  std::string_view text_;
  std::uint64_t number_ = 0;
  std::uint64_t line_ = 1;  // of the token
  std::uint64_t lines_passed_ = 0;
};

}  // namespace chiplog::simulation
