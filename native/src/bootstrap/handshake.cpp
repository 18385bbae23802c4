#include "bootstrap/handshake.hpp"

#include <sys/random.h>

#include <algorithm>
#include <string>
#include <vector>

#include "bootstrap/little_endian.hpp"
#include "bootstrap/socket.hpp"
#include "chiplog/error.hpp"

namespace chiplog {
namespace {

constexpr std::string_view protocol_mark = "CHIPLOG2";
constexpr std::string_view caller_label = "caller";
constexpr std::string_view listener_label = "listener";

// Writes one field after the other.
class Writer {
 public:
  explicit Writer(std::byte* to) : to_(to) {}
  Writer& put(std::span<const std::byte> bytes) {
    to_ = std::copy(bytes.begin(), bytes.end(), to_);
    return *this;
  }
  Writer& put(std::uint32_t value) {
    store_u32(to_, value);
    to_ += 4;
    return *this;
  }

 private:
  std::byte* to_;
};

bool begins_with_mark(std::span<const std::byte> bytes) {
  const auto mark = bytes_of(protocol_mark);
  return std::equal(mark.begin(), mark.end(), bytes.begin());
}

template <std::size_t N>
void copy_from(const std::byte* from, std::array<std::byte, N>& to) {
  std::copy_n(from, N, to.begin());
}

// `judgement` is 0 in a caller's proof.
Digest proof_of(std::string_view label, const Challenge& challenge, const Claim& claim, const Nonce& nonce,
                std::uint32_t judgement, std::string_view key) {
  std::vector<std::byte> signed_bytes(label.size() + challenge.nonce.size() + nonce.size() + 12);
  Writer(signed_bytes.data())
      .put(bytes_of(label))
      .put(challenge.nonce)
      .put(nonce)
      .put(static_cast<std::uint32_t>(claim.rank))
      .put(static_cast<std::uint32_t>(claim.size))
      .put(judgement);
  return hmac_sha256(bytes_of(key), signed_bytes);
}

}  // namespace

Nonce make_nonce() {
  Nonce nonce{};
  if (getrandom(nonce.data(), nonce.size(), 0) != static_cast<ssize_t>(nonce.size())) {
    throw Error(ExitCode::run_failed, "the system gives no random numbers");
  }
  return nonce;
}

std::array<std::byte, Challenge::bytes> encode(const Challenge& challenge) {
  std::array<std::byte, Challenge::bytes> bytes{};
  Writer(bytes.data()).put(bytes_of(protocol_mark)).put(challenge.nonce);
  return bytes;
}

std::array<std::byte, Answer::bytes> encode(const Answer& answer) {
  std::array<std::byte, Answer::bytes> bytes{};
  Writer(bytes.data())
      .put(bytes_of(protocol_mark))
      .put(static_cast<std::uint32_t>(answer.claim.rank))
      .put(static_cast<std::uint32_t>(answer.claim.size))
      .put(answer.nonce)
      .put(answer.proof);
  return bytes;
}

std::array<std::byte, Verdict::bytes> encode(const Verdict& verdict) {
  std::array<std::byte, Verdict::bytes> bytes{};
  Writer(bytes.data())
      .put(bytes_of(protocol_mark))
      .put(static_cast<std::uint32_t>(verdict.judgement))
      .put(verdict.proof);
  return bytes;
}

std::optional<Challenge> decode_challenge(std::span<const std::byte> bytes) {
  if (bytes.size() != Challenge::bytes || !begins_with_mark(bytes)) return std::nullopt;
  Challenge challenge;
  copy_from(bytes.data() + 8, challenge.nonce);
  return challenge;
}

std::optional<Answer> decode_answer(std::span<const std::byte> bytes) {
  if (bytes.size() != Answer::bytes || !begins_with_mark(bytes)) return std::nullopt;
  Answer answer;
  answer.claim.rank = static_cast<Rank>(load_u32(bytes.data() + 8));
  answer.claim.size = static_cast<int>(load_u32(bytes.data() + 12));
  copy_from(bytes.data() + 16, answer.nonce);
  copy_from(bytes.data() + 48, answer.proof);
  return answer;
}

std::optional<Verdict> decode_verdict(std::span<const std::byte> bytes) {
  if (bytes.size() != Verdict::bytes || !begins_with_mark(bytes)) return std::nullopt;
  const std::uint32_t judgement = load_u32(bytes.data() + 8);
  if (judgement < static_cast<std::uint32_t>(Judgement::accepted) ||
      judgement > static_cast<std::uint32_t>(Judgement::wrong_rank)) {
    return std::nullopt;
  }
  Verdict verdict{static_cast<Judgement>(judgement), {}};
  copy_from(bytes.data() + 12, verdict.proof);
  return verdict;
}

std::string connection_key(std::string_view secret, std::string_view listener, std::string_view caller) {
  std::string ends = std::to_string(listener.size()) + " ";
  ends.append(listener).append(caller);
  const Digest key = hmac_sha256(bytes_of(secret), bytes_of(ends));
  return {reinterpret_cast<const char*>(key.data()), key.size()};
}

Answer answer_to(const Challenge& challenge, const Claim& claim, const Nonce& nonce, std::string_view key) {
  return {claim, nonce, proof_of(caller_label, challenge, claim, nonce, 0, key)};
}

bool is_proven(const Answer& answer, const Challenge& challenge, std::string_view key) {
  return equal_in_constant_time(answer.proof, answer_to(challenge, answer.claim, answer.nonce, key).proof);
}

Verdict verdict_on(const Answer& answer, Judgement judgement, const Challenge& challenge, std::string_view key) {
  return {judgement,
          proof_of(listener_label, challenge, answer.claim, answer.nonce, static_cast<std::uint32_t>(judgement), key)};
}

bool is_proven(const Verdict& verdict, const Answer& answer, const Challenge& challenge, std::string_view key) {
  return equal_in_constant_time(verdict.proof, verdict_on(answer, verdict.judgement, challenge, key).proof);
}

}  // namespace chiplog
