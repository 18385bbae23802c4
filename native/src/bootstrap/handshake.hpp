// Two ranks prove to each other that they know the same secret. All functions are pure and work on bytes.
//
//   listener -> caller   Challenge   a fresh nonce
//   caller -> listener   Answer      who it is, its own nonce, HMAC(key, "caller" + both nonces + who)
//   listener -> caller   Verdict     accepted or why not, with HMAC(key, "listener" + both nonces + who + verdict)
//
// The key is HMAC(secret, both ends' addresses), so what a relay passes on proves nothing on another connection. A
// verdict without proof says nothing: only "wrong secret" has none. All three messages have a fixed length, so nothing
// that a stranger sends is ever used as a length.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "bootstrap/hmac.hpp"
#include "chiplog/transport.hpp"

namespace chiplog {

using Nonce = std::array<std::byte, 32>;

// Random bytes from the operating system; throws Error if it has none.
[[nodiscard]] Nonce make_nonce();

// The group that a caller belongs to, and its rank there.
struct Claim {
  Rank rank = 0;
  int size = 0;
  friend bool operator==(const Claim&, const Claim&) = default;
};

struct Challenge {
  static constexpr std::size_t bytes = 8 + 32;
  Nonce nonce{};
};

struct Answer {
  static constexpr std::size_t bytes = 8 + 4 + 4 + 32 + 32;
  Claim claim;
  Nonce nonce{};
  Digest proof{};
};

enum class Judgement : std::uint32_t { accepted = 1, wrong_secret = 2, wrong_size = 3, wrong_rank = 4 };

struct Verdict {
  static constexpr std::size_t bytes = 8 + 4 + 32;
  Judgement judgement = Judgement::wrong_secret;
  Digest proof{};
};

[[nodiscard]] std::array<std::byte, Challenge::bytes> encode(const Challenge& challenge);
[[nodiscard]] std::array<std::byte, Answer::bytes> encode(const Answer& answer);
[[nodiscard]] std::array<std::byte, Verdict::bytes> encode(const Verdict& verdict);

// Empty if the bytes are not a valid message.
[[nodiscard]] std::optional<Challenge> decode_challenge(std::span<const std::byte> bytes);
[[nodiscard]] std::optional<Answer> decode_answer(std::span<const std::byte> bytes);
[[nodiscard]] std::optional<Verdict> decode_verdict(std::span<const std::byte> bytes);

// The key of one connection; `listener` and `caller` are the addresses of its ends, as each end sees them.
[[nodiscard]] std::string connection_key(std::string_view secret, std::string_view listener, std::string_view caller);

[[nodiscard]] Answer answer_to(const Challenge& challenge, const Claim& claim, const Nonce& nonce,
                               std::string_view key);
[[nodiscard]] bool is_proven(const Answer& answer, const Challenge& challenge, std::string_view key);
[[nodiscard]] Verdict verdict_on(const Answer& answer, Judgement judgement, const Challenge& challenge,
                                 std::string_view key);
[[nodiscard]] bool is_proven(const Verdict& verdict, const Answer& answer, const Challenge& challenge,
                             std::string_view key);

}  // namespace chiplog
