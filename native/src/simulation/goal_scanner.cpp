#include "simulation/goal_scanner.hpp"

#include <cstring>

namespace chiplog::simulation {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_word(char c) { return is_letter(c) || is_digit(c) || c == '_'; }
bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

std::string shown(char c) {
  if (c > ' ' && c <= '~') return {'\'', c, '\''};
  return "byte " + std::to_string(static_cast<unsigned char>(c));
}

}  // namespace

GoalError GoalScanner::wrong(std::string_view accepted) const {
  std::string found = "the end of the file";
  if (token_ == Token::line_end) found = "the end of the line";
  if (token_ != Token::line_end && token_ != Token::end) found = "'" + std::string(text_) + "'";
  return {line_, found + " stands where " + std::string(accepted) + " belongs"};
}

void GoalScanner::refill() {
  std::memmove(buffer_.data(), buffer_.data() + place_, filled_ - place_);
  filled_ -= place_;
  place_ = 0;
  while (filled_ <= most_token_bytes && !finished_) {
    const std::size_t got = source_({buffer_.data() + filled_, buffer_bytes - filled_});
    filled_ += got;
    finished_ = got == 0;
  }
  buffer_[filled_] = '\0';
}

void GoalScanner::take(Token token, std::size_t bytes) {
  token_ = token;
  text_ = {buffer_.data() + place_, bytes};
  place_ += bytes;
}

void GoalScanner::advance() {
  skip_blanks_and_comments();
  line_ = lines_passed_ + 1;
  const char first = peek(0);
  if (place_ == filled_) return take(Token::end, 0);
  if (first == '\n') {
    ++lines_passed_;
    return take(Token::line_end, 1);
  }
  if (is_letter(first)) return scan_word();
  if (is_digit(first)) return scan_number();
  if (first == ':' || first == '{' || first == '}') return take(Token::mark, 1);
  if (first == '-' && peek(1) == '1' && !is_word(peek(2))) return take(Token::minus_one, 2);
  throw GoalError(line_, shown(first) + " begins no word, number or mark of GOAL");
}

// Makes sure that the whole next token is in the buffer.
void GoalScanner::skip_blanks_and_comments() {
  for (;; ++place_) {
    look_ahead();
    const char c = peek(0);
    if (is_blank(c)) continue;
    if (c != '/') return;
    if (peek(1) == '/') {
      skip_line_comment();
    } else if (peek(1) == '*') {
      skip_block_comment();
    } else {
      return;
    }
  }
}

// Stops before the end of the line.
void GoalScanner::skip_line_comment() {
  for (look_ahead(); peek(1) != '\n' && place_ + 1 < filled_; look_ahead()) ++place_;
}

// Stops at the last byte of the comment.
void GoalScanner::skip_block_comment() {
  const std::uint64_t begin = lines_passed_ + 1;
  ++place_;
  do {
    ++place_;
    look_ahead();
    if (place_ >= filled_) throw GoalError(begin, "the comment that begins here does not end");
    if (peek(0) == '\n') ++lines_passed_;
  } while (peek(0) != '*' || peek(1) != '/');
  ++place_;
}

void GoalScanner::scan_word() {
  std::size_t bytes = 1;
  while (is_word(peek(bytes)))
    if (++bytes == most_token_bytes) throw GoalError(line_, "a word is longer than 254 bytes");
  take(Token::word, bytes);
}

void GoalScanner::scan_number() {
  std::size_t bytes = 0;
  number_ = 0;
  for (char c = peek(0); is_digit(c); c = peek(++bytes)) {
    const auto digit = static_cast<std::uint64_t>(c - '0');
    if (__builtin_mul_overflow(number_, 10U, &number_) || __builtin_add_overflow(number_, digit, &number_))
      throw GoalError(line_, "a number exceeds 2^64 - 1");
    if (bytes == most_token_bytes) throw GoalError(line_, "a number is longer than 254 digits");
  }
  take(Token::number, bytes);
}

}  // namespace chiplog::simulation
