// The framing of the bootstrap's blobs on a stream: eight bytes of header, then the blob. In place of a blob, a rank
// that fails sends why.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "chiplog/error.hpp"

namespace chiplog {

inline constexpr std::size_t frame_header_bytes = 8;
using FrameHeader = std::array<std::byte, frame_header_bytes>;

enum class FrameKind { blob, failure };

struct Frame {
  FrameKind kind = FrameKind::blob;
  std::size_t bytes = 0;  // behind the header; at most Bootstrap::max_blob_bytes
};

[[nodiscard]] FrameHeader encode_frame_header(const Frame& frame);

// Throws Corrupt if the bytes are not a header or announce more than the limit.
[[nodiscard]] Frame decode_frame_header(std::span<const std::byte, frame_header_bytes> header);

// The bytes of a failure, and the error of rank 0 that `who` sent them to.
[[nodiscard]] std::string pack_failure(const Error& error);
[[nodiscard]] Error unpack_failure(std::string_view bytes, std::string_view who);

}  // namespace chiplog
