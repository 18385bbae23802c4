#include "bootstrap/frame.hpp"

#include <array>
#include <optional>

#include "bootstrap/little_endian.hpp"
#include "chiplog/bootstrap.hpp"

namespace chiplog {
namespace {

constexpr std::uint32_t blob_mark = 0x424c4843;     // "CHLB"
constexpr std::uint32_t failure_mark = 0x464c4843;  // "CHLF"
constexpr std::size_t failure_facts_bytes = 5;
constexpr std::uint32_t no_cause = 0xffffffff;
constexpr std::array failure_codes = {ExitCode::run_failed, ExitCode::wrong_usage, ExitCode::corrupt};

}  // namespace

FrameHeader encode_frame_header(const Frame& frame) {
  FrameHeader header{};
  store_u32(header.data(), frame.kind == FrameKind::blob ? blob_mark : failure_mark);
  store_u32(header.data() + 4, static_cast<std::uint32_t>(frame.bytes));
  return header;
}

Frame decode_frame_header(std::span<const std::byte, frame_header_bytes> header) {
  const std::uint32_t mark = load_u32(header.data());
  if (mark != blob_mark && mark != failure_mark) {
    throw Corrupt("what arrived between ranks is not a frame of the bootstrap");
  }
  const std::size_t bytes = load_u32(header.data() + 4);
  if (bytes > Bootstrap::max_blob_bytes) {
    throw Corrupt("a frame of the bootstrap announces " + std::to_string(bytes) + " bytes; the limit is " +
                  std::to_string(Bootstrap::max_blob_bytes));
  }
  return {mark == blob_mark ? FrameKind::blob : FrameKind::failure, bytes};
}

// One byte of exit code, the cause or no_cause, then the sentence.
std::string pack_failure(const Error& error) {
  std::array<std::byte, failure_facts_bytes> facts{static_cast<std::byte>(error.exit_code())};
  store_u32(facts.data() + 1, error.cause() ? static_cast<std::uint32_t>(*error.cause()) : no_cause);
  return std::string(reinterpret_cast<const char*>(facts.data()), facts.size()) + error.what();
}

Error unpack_failure(std::string_view bytes, std::string_view who) {
  for (const ExitCode code : failure_codes) {
    if (bytes.size() < failure_facts_bytes || bytes.front() != static_cast<char>(code)) continue;
    const std::uint32_t cause = load_u32(std::as_bytes(std::span(bytes)).data() + 1);
    const std::string sentence = std::string(who) + ": " + std::string(bytes.substr(failure_facts_bytes));
    return {code, sentence, cause == no_cause ? std::nullopt : std::optional(static_cast<int>(cause))};
  }
  return {ExitCode::run_failed, std::string(who) + " failed, and its reason arrived damaged"};
}

}  // namespace chiplog
