#include "core/record_sink.hpp"

#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "chiplog/error.hpp"

namespace chiplog {
namespace {

constexpr std::array<std::uint32_t, 256> crc_table = [] {
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t i = 0; i < table.size(); ++i) {
    std::uint32_t value = i;
    for (int bit = 0; bit < 8; ++bit) value = (value & 1U) != 0 ? (value >> 1U) ^ 0xedb88320U : value >> 1U;
    table[i] = value;
  }
  return table;
}();

}  // namespace

std::uint32_t crc32(std::string_view bytes) {
  std::uint32_t crc = ~0U;
  for (const char c : bytes) crc = crc_table[(crc ^ static_cast<unsigned char>(c)) & 0xffU] ^ (crc >> 8U);
  return ~crc;
}

std::string with_crc32(std::string_view object) {
  const std::string_view body = object.substr(0, object.size() - 1);
  std::array<char, 32> end{};
  std::snprintf(end.data(), end.size(), ",\"crc32\":\"%08x\"}", crc32(body));
  return std::string(body) + end.data();
}

void RecordSink::write(std::string_view object) { write_plain(with_crc32(object)); }

void RecordSink::write_plain(std::string_view object) { write_all(std::string(object) + "\n"); }

void RecordSink::write_all(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::write(descriptor_, bytes.data(), bytes.size());
    if (count >= 0) {
      bytes.remove_prefix(static_cast<std::size_t>(count));
    } else if (errno == EPIPE) {
      throw Error(ExitCode::run_failed, "can't write records: who read them is gone");
    } else if (errno != EINTR) {
      throw Error(ExitCode::run_failed, std::string("can't write records: ") + std::strerror(errno));
    }
  }
}

}  // namespace chiplog
