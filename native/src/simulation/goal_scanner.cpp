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

bool GoalScanner::refill() {
  if (finished_) return false;
  std::memmove(buffer_.data(), buffer_.data() + place_, filled_ - place_);
  filled_ -= place_;
  place_ = 0;
  const std::size_t got = source_({buffer_.data() + filled_, buffer_.size() - filled_});
  filled_ += got;
  bytes_read_ += got;
  finished_ = got == 0;
  return !finished_;
}

char GoalScanner::peek(std::size_t ahead) {
  while (place_ + ahead >= filled_)
    if (!refill()) return '\0';
  return buffer_[place_ + ahead];
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

void GoalScanner::skip_blanks_and_comments() {
  for (;;) {
    const char c = peek(0);
    if (is_blank(c)) {
      ++place_;
    } else if (c == '/' && peek(1) == '/') {
      while (peek(0) != '\n' && place_ < filled_) ++place_;
    } else if (c == '/' && peek(1) == '*') {
      skip_block_comment();
    } else {
      return;
    }
  }
}

void GoalScanner::skip_block_comment() {
  const std::uint64_t begin = lines_passed_ + 1;
  for (place_ += 2; !(peek(0) == '*' && peek(1) == '/'); ++place_) {
    if (place_ >= filled_) throw GoalError(begin, "the comment that begins here does not end");
    if (buffer_[place_] == '\n') ++lines_passed_;
  }
  place_ += 2;
}

void GoalScanner::scan_word() {
  std::size_t bytes = 1;
  while (is_word(peek(bytes)))
    if (++bytes > kMostTokenBytes) throw GoalError(line_, "a word is longer than 255 bytes");
  take(Token::word, bytes);
}

void GoalScanner::scan_number() {
  std::size_t bytes = 0;
  number_ = 0;
  for (char c = peek(0); is_digit(c); c = peek(++bytes)) {
    const auto digit = static_cast<std::uint64_t>(c - '0');
    if (__builtin_mul_overflow(number_, 10U, &number_) || __builtin_add_overflow(number_, digit, &number_))
      throw GoalError(line_, "a number exceeds 2^64 - 1");
    if (bytes == kMostTokenBytes) throw GoalError(line_, "a number is longer than 255 digits");
  }
  take(Token::number, bytes);
}

}  // namespace chiplog::simulation
