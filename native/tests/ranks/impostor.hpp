// A listener that follows the handshake without the secret.
#pragma once

#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <string>

#include "bootstrap/handshake.hpp"
#include "bootstrap/socket.hpp"

namespace chiplog::testing {

// Gives `judgement` to every caller, with the proof of a guessed secret. Does not return.
inline std::string answer_without_the_secret(const FileDescriptor& listener, Judgement judgement) {
  const Deadline patient = Deadline::in(std::chrono::seconds(30));
  for (;;) {
    const FileDescriptor caller(accept(listener.get(), nullptr, nullptr));
    if (!caller.open()) continue;
    const Challenge challenge{make_nonce()};
    std::array<std::byte, Answer::bytes> bytes{};
    send_all(caller.get(), encode(challenge), patient);
    if (receive_all(caller.get(), bytes, patient) != IoResult::done) continue;
    const std::string key = connection_key("a guess", "here", "there");
    send_all(caller.get(), encode(verdict_on(*decode_answer(bytes), judgement, challenge, key)), patient);
  }
}

}  // namespace chiplog::testing
