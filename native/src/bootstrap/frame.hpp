// The framing of the bootstrap's blobs on a stream: eight bytes of header, then the blob.
#pragma once

#include <array>
#include <cstddef>
#include <span>

namespace chiplog {

inline constexpr std::size_t frame_header_bytes = 8;
using FrameHeader = std::array<std::byte, frame_header_bytes>;

// `blob_bytes` is at most Bootstrap::max_blob_bytes.
[[nodiscard]] FrameHeader encode_frame_header(std::size_t blob_bytes);

// The length of the blob that follows. Throws Corrupt if the bytes are not a header or announce more than the limit.
[[nodiscard]] std::size_t decode_frame_header(std::span<const std::byte, frame_header_bytes> header);

}  // namespace chiplog
