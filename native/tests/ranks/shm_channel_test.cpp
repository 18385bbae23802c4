// Both ends of a channel in one process, each on a thread, so that the thread sanitizer sees both.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "core/payload.hpp"
#include "outcome.hpp"
#include "transports/shm/channel.hpp"

namespace chiplog::shm {
namespace {

using testing::kind_of;
using testing::outcome_of;

constexpr std::size_t ring_bytes = 65536;
constexpr std::size_t sizes[] = {0,  1,  2,  3,  4,  7,    8,    15,   16,    31,     32,
                                 33, 55, 56, 57, 64, 1000, 8192, 8193, 65536, 200'000};

struct FreeMemory {
  void operator()(Channel* channel) const { std::free(channel); }
};
using OwnedChannel = std::unique_ptr<Channel, FreeMemory>;

OwnedChannel make_channel() {
  void* memory = std::aligned_alloc(page_bytes, channel_bytes(ring_bytes));
  std::memset(memory, 0, channel_bytes(ring_bytes));
  return OwnedChannel(static_cast<Channel*>(memory));
}

class ShmChannel : public ::testing::Test {
 protected:
  OwnedChannel forth = make_channel();
  OwnedChannel back = make_channel();
  Watch watch{[](Rank) { return true; }, WaitPolicy::make(LookCost::memory, true, std::chrono::seconds(30))};
};

void send_filled(Sender& sender, std::vector<std::byte>& buffer, std::size_t bytes, std::uint64_t salt) {
  fill_payload({buffer.data(), bytes}, salt);
  sender.send(buffer.data(), bytes);
}

std::string receive_and_compare(Receiver& receiver, const Sender& reply, std::vector<std::byte>& buffer,
                                std::size_t bytes, std::uint64_t salt) {
  const std::size_t received = receiver.recv(buffer.data(), bytes, reply);
  if (received != bytes) return "message " + std::to_string(salt) + ": wrong length";
  return find_mismatch({buffer.data(), bytes}, salt).value_or("");
}

// Beyond several laps around slots and ring.
TEST_F(ShmChannel, KeepsContentsAndOrderThroughManyLaps) {
  constexpr std::uint64_t messages = 3 * slot_count;
  std::thread other([&] {
    Sender sender(*forth, ring_bytes, 1, watch);
    std::vector<std::byte> buffer(256'000);
    for (std::uint64_t i = 0; i < messages; ++i) send_filled(sender, buffer, sizes[i % std::size(sizes)], i);
  });
  Receiver receiver(*forth, ring_bytes, 0, watch);
  const Sender reply(*back, ring_bytes, 0, watch);
  std::vector<std::byte> buffer(256'000);
  std::string wrong;
  for (std::uint64_t i = 0; i < messages; ++i) {
    const std::string found = receive_and_compare(receiver, reply, buffer, sizes[i % std::size(sizes)], i);
    if (wrong.empty()) wrong = found;
  }
  other.join();
  EXPECT_EQ(wrong, "");
}

TEST_F(ShmChannel, AnswersEachMessage) {
  constexpr std::uint64_t messages = 3 * slot_count;
  const auto size_of = [](std::uint64_t i) { return sizes[i % (std::size(sizes) - 3)]; };
  std::thread other([&] {
    Receiver receiver(*forth, ring_bytes, 0, watch);
    Sender sender(*back, ring_bytes, 0, watch);
    std::vector<std::byte> buffer(256'000);
    for (std::uint64_t i = 0; i < messages; ++i) {
      sender.send(buffer.data(), receiver.recv(buffer.data(), size_of(i), sender));
    }
  });
  Sender sender(*forth, ring_bytes, 1, watch);
  Receiver receiver(*back, ring_bytes, 1, watch);
  std::vector<std::byte> buffer(256'000);
  std::string wrong;
  for (std::uint64_t i = 0; i < messages; ++i) {
    send_filled(sender, buffer, size_of(i), i);
    const std::string found = receive_and_compare(receiver, sender, buffer, size_of(i), i);
    if (wrong.empty()) wrong = found;
  }
  other.join();
  EXPECT_EQ(wrong, "");
}

// One that is lost before it sends, one that sends and is lost, and one that never reads.
TEST_F(ShmChannel, TellsALostPeerFromALateOne) {
  Watch bereft([](Rank) { return false; }, WaitPolicy::make(LookCost::memory, true, std::chrono::seconds(30)));
  Watch impatient([](Rank) { return true; }, WaitPolicy::make(LookCost::memory, true, std::chrono::milliseconds(20)));
  std::vector<std::byte> buffer(64);
  const Sender reply(*back, ring_bytes, 1, watch);
  EXPECT_EQ(kind_of(outcome_of([&] { Receiver(*forth, ring_bytes, 1, bereft).recv(buffer.data(), 1, reply); })),
            "PeerLost");
  EXPECT_EQ(kind_of(outcome_of([&] { Receiver(*forth, ring_bytes, 1, impatient).recv(buffer.data(), 1, reply); })),
            "TimedOut");
  Sender sender(*forth, ring_bytes, 1, impatient);
  const std::string outcome = outcome_of([&] {
    for (;;) sender.send(buffer.data(), 1);
  });
  EXPECT_EQ(kind_of(outcome), "TimedOut");
  Receiver late(*forth, ring_bytes, 1, bereft);
  EXPECT_EQ(outcome_of([&] { late.recv(buffer.data(), 1, reply); }), "") << "what was sent before still counts";
}

// Whether the write comes during the first looks, or long after them, or never.
TEST_F(ShmChannel, AWaitForAWriteEndsWithTheWriteOrTellsALostPeerFromALateOne) {
  std::atomic<int> word{0};
  const auto wait_by = [&](Watch& by, int value) {
    return kind_of(outcome_of([&] { by.wait_for_write(1, [&] { return word.load() >= value; }); }));
  };
  for (const auto delay : {std::chrono::milliseconds(0), std::chrono::milliseconds(20)}) {
    const int value = word.load() + 1;
    std::thread writer([&] {
      std::this_thread::sleep_for(delay);
      word.store(value);
    });
    EXPECT_EQ(wait_by(watch, value), "");
    writer.join();
  }
  Watch bereft([](Rank) { return false; }, WaitPolicy::make(LookCost::memory, false, std::chrono::seconds(30)));
  Watch impatient([](Rank) { return true; }, WaitPolicy::make(LookCost::memory, false, std::chrono::milliseconds(20)));
  EXPECT_EQ(wait_by(bereft, word.load()), "") << "what was written before still counts";
  EXPECT_EQ(wait_by(bereft, word.load() + 1), "PeerLost");
  EXPECT_EQ(wait_by(impatient, word.load() + 1), "TimedOut");
}

TEST_F(ShmChannel, ASenderThatWaitsHearsThatTheReceiverGaveUp) {
  Sender sender(*forth, ring_bytes, 1, watch);
  std::vector<std::byte> buffer(2 * ring_bytes);
  std::thread other([&] {
    const Sender reply(*back, ring_bytes, 0, watch);
    Receiver receiver(*forth, ring_bytes, 0, watch);
    EXPECT_EQ(kind_of(outcome_of([&] { receiver.recv(buffer.data(), 10, reply); })), "Truncated");
  });
  EXPECT_EQ(kind_of(outcome_of([&] { sender.send(buffer.data(), buffer.size()); })), "PeerLost");
  other.join();
}

// Small messages before and behind one that stays with its sender, in their order.
TEST_F(ShmChannel, AMessageMayStayWithItsSenderUntilItIsFetched) {
  constexpr std::uint64_t rounds = slot_count;
  std::vector<std::byte> kept(300'000);
  std::thread other([&] {
    Sender sender(*forth, ring_bytes, 1, watch);
    std::vector<std::byte> small(100);
    for (std::uint64_t i = 0; i < rounds; ++i) {
      send_filled(sender, small, 8, 2 * i);
      fill_payload({kept.data(), 1000}, 2 * i + 1);
      sender.announce_to_fetch(kept.data(), 1000);
      sender.wait_until_fetched();
    }
  });
  Receiver receiver(*forth, ring_bytes, 0, watch);
  const Sender reply(*back, ring_bytes, 0, watch);
  std::vector<std::byte> buffer(2000);
  const auto fetch = [](const std::byte* directions, std::byte* to, std::size_t bytes) {
    const std::byte* from = nullptr;
    std::memcpy(&from, directions, sizeof from);
    std::memcpy(to, from, bytes);
  };
  std::string wrong;
  for (std::uint64_t i = 0; i < 2 * rounds; ++i) {
    const std::size_t received = receiver.recv(buffer.data(), buffer.size(), reply, fetch);
    const std::size_t expected = i % 2 == 0 ? 8 : 1000;
    if (wrong.empty() && received != expected) wrong = "wrong length of message " + std::to_string(i);
    if (wrong.empty()) wrong = find_mismatch({buffer.data(), expected}, i).value_or("");
  }
  other.join();
  EXPECT_EQ(wrong, "");
}

TEST_F(ShmChannel, AMessageThatStaysWithItsSenderMayBeTooLong) {
  Sender sender(*forth, ring_bytes, 1, watch);
  std::thread other([&] {
    const Sender reply(*back, ring_bytes, 0, watch);
    Receiver receiver(*forth, ring_bytes, 0, watch);
    std::vector<std::byte> buffer(64);
    const auto never = [](const std::byte*, std::byte*, std::size_t) { FAIL() << "fetched"; };
    EXPECT_EQ(kind_of(outcome_of([&] { receiver.recv(buffer.data(), 10, reply, never); })), "Truncated");
    EXPECT_EQ(kind_of(outcome_of([&] { receiver.recv(buffer.data(), 10, reply, never); })), "Truncated");
  });
  sender.announce_to_fetch(std::uint64_t{0}, 1000);
  EXPECT_EQ(kind_of(outcome_of([&] { sender.wait_until_fetched(); })), "PeerLost");
  other.join();
}

}  // namespace
}  // namespace chiplog::shm
