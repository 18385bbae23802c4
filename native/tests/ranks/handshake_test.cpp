#include "bootstrap/handshake.hpp"

#include <gtest/gtest.h>

#include <string>

#include "bootstrap/frame.hpp"
#include "bootstrap/socket.hpp"
#include "chiplog/bootstrap.hpp"
#include "outcome.hpp"

namespace chiplog::testing {
namespace {

std::string hex(const Digest& digest) {
  std::string text;
  for (const std::byte byte : digest) {
    char digits[3];
    std::snprintf(digits, sizeof digits, "%02x", static_cast<unsigned>(byte));
    text += digits;
  }
  return text;
}

// The vectors of FIPS 180-2, appendix B, and the empty message.
TEST(Sha256, GivesThePublishedDigests) {
  EXPECT_EQ(hex(sha256({})), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(hex(sha256(bytes_of("abc"))), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(hex(sha256(bytes_of("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"))),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(hex(sha256(bytes_of(std::string(1'000'000, 'a')))),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

// RFC 4231, test cases 1, 2 and 6 (a key longer than a block).
TEST(HmacSha256, GivesThePublishedDigests) {
  EXPECT_EQ(hex(hmac_sha256(bytes_of(std::string(20, '\x0b')), bytes_of("Hi There"))),
            "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7");
  EXPECT_EQ(hex(hmac_sha256(bytes_of("Jefe"), bytes_of("what do ya want for nothing?"))),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
  EXPECT_EQ(hex(hmac_sha256(bytes_of(std::string(131, '\xaa')),
                            bytes_of("Test Using Larger Than Block-Size Key - Hash Key First"))),
            "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
}

TEST(EqualInConstantTime, SeesADifferenceInAnyByte) {
  const Digest digest = sha256({});
  EXPECT_TRUE(equal_in_constant_time(digest, digest));
  for (std::size_t i = 0; i < digest.size(); ++i) {
    Digest other = digest;
    other[i] ^= std::byte{0x80};
    EXPECT_FALSE(equal_in_constant_time(digest, other)) << "byte " << i;
  }
}

class Handshake : public ::testing::Test {
 protected:
  std::string key = connection_key("secret", "here 1", "there 2");
  Challenge challenge{make_nonce()};
  Answer answer = answer_to(challenge, {1, 4}, make_nonce(), key);
  Verdict acceptance = verdict_on(answer, Judgement::accepted, challenge, key);
};

TEST_F(Handshake, ProvesTheSecretBothWays) {
  EXPECT_TRUE(is_proven(answer, challenge, key));
  EXPECT_TRUE(is_proven(acceptance, answer, challenge, key));
}

TEST_F(Handshake, AnotherSecretOrAnotherConnectionProvesNothing) {
  for (const std::string& other :
       {connection_key("Secret", "here 1", "there 2"), connection_key("secret", "here 3", "there 2"),
        connection_key("secret", "here 1", "there 3"), connection_key("secret", "there 2", "here 1"),
        connection_key("secret", "here 1t", "here 2")}) {
    EXPECT_FALSE(is_proven(answer, challenge, other));
    EXPECT_FALSE(is_proven(verdict_on(answer, Judgement::accepted, challenge, other), answer, challenge, key));
  }
}

TEST_F(Handshake, AnAnswerThatWasOverheardDoesNotFitTheNextChallenge) {
  EXPECT_FALSE(is_proven(answer, Challenge{make_nonce()}, key));
}

TEST_F(Handshake, AProofDoesNotServeAnotherRankOrVerdict) {
  Answer other = answer;
  other.claim.rank = 2;
  EXPECT_FALSE(is_proven(other, challenge, key));
  other = answer;
  other.claim.size = 5;
  EXPECT_FALSE(is_proven(other, challenge, key));
  for (const auto judgement : {Judgement::wrong_secret, Judgement::wrong_size, Judgement::wrong_rank}) {
    EXPECT_FALSE(is_proven(Verdict{judgement, acceptance.proof}, answer, challenge, key));
    EXPECT_FALSE(is_proven(Verdict{judgement, {}}, answer, challenge, key));
  }
}

// Otherwise a listener without the secret could send a caller's own proof back.
TEST_F(Handshake, ACallersProofIsNoListenersProof) {
  EXPECT_FALSE(is_proven(Verdict{Judgement::accepted, answer.proof}, answer, challenge, key));
}

TEST_F(Handshake, MessagesComeBackFromTheirBytes) {
  EXPECT_EQ(decode_challenge(encode(challenge))->nonce, challenge.nonce);
  const auto decoded = decode_answer(encode(answer));
  ASSERT_TRUE(decoded);
  EXPECT_EQ(decoded->claim, answer.claim);
  EXPECT_EQ(decoded->nonce, answer.nonce);
  EXPECT_EQ(decoded->proof, answer.proof);
  EXPECT_EQ(decode_verdict(encode(acceptance))->proof, acceptance.proof);
}

TEST_F(Handshake, OtherBytesAreNoMessage) {
  auto bytes = encode(answer);
  EXPECT_FALSE(decode_answer(std::span(bytes).first(bytes.size() - 1)));
  EXPECT_FALSE(decode_challenge(bytes)) << "wrong length";
  bytes[0] ^= std::byte{1};
  EXPECT_FALSE(decode_answer(bytes)) << "wrong mark";
  auto verdict = encode(Verdict{});
  verdict[8] = std::byte{77};
  EXPECT_FALSE(decode_verdict(verdict)) << "unknown judgement";
}

TEST(BootstrapFrame, LengthsAreCheckedBeforeTheyAreUsed) {
  const Frame longest{FrameKind::failure, Bootstrap::max_blob_bytes};
  EXPECT_EQ(decode_frame_header(encode_frame_header(longest)).bytes, longest.bytes);
  EXPECT_EQ(decode_frame_header(encode_frame_header(longest)).kind, longest.kind);
  const FrameHeader too_long = encode_frame_header({FrameKind::blob, Bootstrap::max_blob_bytes + 1});
  EXPECT_EQ(kind_of(outcome_of([&] { (void)decode_frame_header(too_long); })), "Corrupt");
  EXPECT_EQ(kind_of(outcome_of([] { (void)decode_frame_header(FrameHeader{}); })), "Corrupt");
}

}  // namespace
}  // namespace chiplog::testing
