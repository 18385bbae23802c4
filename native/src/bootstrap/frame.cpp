#include "bootstrap/frame.hpp"

#include <algorithm>
#include <string>

#include "bootstrap/little_endian.hpp"
#include "chiplog/bootstrap.hpp"
#include "chiplog/error.hpp"

namespace chiplog {
namespace {

constexpr std::uint32_t frame_mark = 0x424c4843;  // "CHLB"

}  // namespace

FrameHeader encode_frame_header(std::size_t blob_bytes) {
  FrameHeader header{};
  store_u32(header.data(), frame_mark);
  store_u32(header.data() + 4, static_cast<std::uint32_t>(blob_bytes));
  return header;
}

std::size_t decode_frame_header(std::span<const std::byte, frame_header_bytes> header) {
  if (load_u32(header.data()) != frame_mark)
    throw Corrupt("what arrived between ranks is not a frame of the bootstrap");
  const std::size_t blob_bytes = load_u32(header.data() + 4);
  if (blob_bytes > Bootstrap::max_blob_bytes) {
    throw Corrupt("a frame of the bootstrap announces " + std::to_string(blob_bytes) + " bytes; the limit is " +
                  std::to_string(Bootstrap::max_blob_bytes));
  }
  return blob_bytes;
}

}  // namespace chiplog
