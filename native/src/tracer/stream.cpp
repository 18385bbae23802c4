#include "tracer/stream.hpp"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <mutex>

#include "tracer/file.hpp"

namespace chiplog::tracer {

bool is_recording = false;
bool has_threads = false;
thread_local Stream* this_thread = nullptr;

namespace {

std::atomic<std::uint32_t> type_epoch{1};
constexpr std::size_t most_words = 8192;  // of one entry

constexpr std::uint32_t low(std::uint64_t number) { return static_cast<std::uint32_t>(number); }
constexpr std::uint32_t high(std::uint64_t number) { return static_cast<std::uint32_t>(number >> 32U); }
constexpr bool is_short(std::int32_t number) { return number == static_cast<std::int16_t>(number); }

// Writes the words of an entry, in the order of its flags, from the block's end downwards.
class Words {
 public:
  explicit Words(std::uint32_t* end) : back(end) {}
  void add(std::uint8_t flag, std::uint32_t word) {
    flags |= flag;
    *--back = word;
  }
  void add(std::uint8_t flag, std::uint32_t first, std::uint32_t second) {
    add(flag, first);
    *--back = second;
  }
  void add_peer(std::int32_t peer, std::int32_t tag) {
    if (is_short(peer) && is_short(tag)) {
      add(flag::short_peer, static_cast<std::uint16_t>(peer) | static_cast<std::uint32_t>(tag) << 16U);
    } else {
      add(flag::long_peer, static_cast<std::uint32_t>(peer), static_cast<std::uint32_t>(tag));
    }
  }

  std::uint32_t* back;
  std::uint8_t flags = 0;
};

bool are_consecutive(std::span<const std::uint32_t> requests) {
  for (std::size_t i = 1; i < requests.size(); ++i) {
    if (requests[i] != requests[0] + i) return false;
  }
  return true;
}

}  // namespace

void forget_types() { type_epoch.fetch_add(1, std::memory_order_relaxed); }

// Gives a thread's stream to the next thread when it ends.
class StreamOwner {
 public:
  StreamOwner() {
    const std::lock_guard guard(lock_);
    stream_ = spare_;
    if (stream_ == nullptr) {
      stream_ = new Stream;
      stream_->number_ = streams_++;
    } else {
      spare_ = stream_->next_spare_;
      stream_->write_new_thread();
    }
  }
  ~StreamOwner() {
    this_thread = nullptr;
    const std::lock_guard guard(lock_);
    stream_->is_inside_ = false;
    stream_->next_spare_ = spare_;
    spare_ = stream_;
  }
  StreamOwner(const StreamOwner&) = delete;
  StreamOwner& operator=(const StreamOwner&) = delete;
  [[nodiscard]] Stream* stream() const { return stream_; }

 private:
  static inline std::mutex lock_;
  static inline Stream* spare_ = nullptr;
  static inline std::uint32_t streams_ = 0;
  Stream* stream_;
};

Stream* Stream::enter_first() {
  thread_local const StreamOwner owner;
  Stream* const stream = owner.stream();
  this_thread = stream;
  stream->is_inside_ = true;
  return stream;
}

std::uint64_t Stream::bytes_of(std::int64_t count, MPI_Datatype type) {
  if (count <= 0 || type == MPI_DATATYPE_NULL) return 0;
  const std::uint32_t epoch = type_epoch.load(std::memory_order_relaxed);
  if (type != known_type_ || epoch != known_epoch_) [[unlikely]] {
    MPI_Count size = 0;
    if (PMPI_Type_size_x(type, &size) != MPI_SUCCESS || size < 0) return 0;
    known_type_ = type;
    known_epoch_ = epoch;
    known_size_ = static_cast<std::uint64_t>(size);
  }
  return static_cast<std::uint64_t>(count) * known_size_;
}

bool Stream::next_block(Ticks now) {
  if (is_full_) return false;
  if (block_ != nullptr) TraceFile::release_block(block_);
  front_ = nullptr;
  back_ = nullptr;
  std::uint32_t number = 0;
  block_ = trace_file.add_block(number);
  if (block_ == nullptr) {
    is_full_ = true;
    say(std::string("the trace ends here, as its file can't grow: ") + std::strerror(errno) + ".");
    return false;
  }
  *static_cast<BlockHeader*>(block_) = {block_magic, number_, sequence_++, 0, now, read_clocks()};
  last_end_ = now;
  front_ = static_cast<std::byte*>(block_) + sizeof(BlockHeader);
  back_ = reinterpret_cast<std::uint32_t*>(static_cast<std::byte*>(block_) + block_bytes);
  next_request_ = number * starts_in_a_block;
  return true;
}

// Room for that many entries and words; false where the call is lost.
void* Stream::reserve(std::size_t entries, std::size_t words, Ticks now) {
  const std::size_t needed = entries * sizeof(Entry) + words * sizeof(std::uint32_t);
  const auto left = reinterpret_cast<std::byte*>(back_) - front_;
  if (static_cast<std::size_t>(left) >= needed && front_ != nullptr) [[likely]]
    return front_;
  if (next_block(now)) return front_;
  std::atomic_ref(trace_file.header().lost_calls).fetch_add(1, std::memory_order_relaxed);
  return nullptr;
}

// The kind comes last: what is not written yet has none.
void Stream::put(const Entry& entry) {
  std::uint64_t halves[2];
  std::memcpy(halves, &entry, sizeof entry);
  auto* const place = reinterpret_cast<volatile std::uint64_t*>(front_);
  std::atomic_signal_fence(std::memory_order_release);
  place[0] = halves[0];
  std::atomic_signal_fence(std::memory_order_release);
  place[1] = halves[1];
  front_ += sizeof(Entry);
}

std::uint32_t Stream::write(const Call& call, Ticks begin, Ticks end) {
  const std::size_t here = std::min(call.requests.size(), most_words);
  if (reserve(1, 8 + here, begin) == nullptr) [[unlikely]]
    return 0;
  const Ticks gap = begin > last_end_ ? begin - last_end_ : 0;
  last_end_ += gap;
  const Ticks duration = end > last_end_ ? end - last_end_ : 0;
  last_end_ += duration;
  Words words(back_);
  if (call.peer != Call::no_peer) words.add_peer(call.peer, call.tag);
  if (high(gap | duration) != 0) [[unlikely]]
    words.add(flag::long_times, high(gap), high(duration));
  if (call.received_bytes != 0) words.add(flag::received, low(call.received_bytes));
  if (high(call.sent_bytes | call.received_bytes) != 0) [[unlikely]]
    words.add(flag::long_bytes, high(call.sent_bytes), high(call.received_bytes));
  std::uint32_t amount = low(call.sent_bytes);
  if (here != 0) {
    amount = static_cast<std::uint32_t>(here);
    if (are_consecutive(call.requests.first(here))) {
      words.add(flag::range, call.requests[0]);
    } else {
      for (const std::uint32_t request : call.requests.first(here)) words.add(flag::lists, request);
    }
  }
  std::uint32_t request = 0;
  if (call.starts) {
    words.flags |= flag::starts;
    request = next_request_++;
  }
  back_ = words.back;
  put({low(gap), low(duration), call.kind, words.flags, call.communicator, amount});
  if (here < call.requests.size()) write_more(call.requests.subspan(here));
  return request;
}

// The requests that an entry has no room for.
void Stream::write_more(std::span<const std::uint32_t> requests) {
  for (std::size_t done = 0; done < requests.size(); done += most_words) {
    const auto part = requests.subspan(done, std::min(most_words, requests.size() - done));
    if (reserve(1, part.size(), last_end_) == nullptr) return;
    for (const std::uint32_t one : part) *--back_ = one;
    put({0, 0, extra::more, flag::lists, 0, static_cast<std::uint32_t>(part.size())});
  }
}

void Stream::write_new_thread() {
  if (reserve(1, 0, last_end_) != nullptr) put({0, 0, extra::thread, 0, 0, 0});
}

void Stream::write_receiving(std::int32_t source, std::int32_t tag, std::uint64_t bytes) {
  if (reserve(1, 8, last_end_) == nullptr) return;
  Words words(back_);
  words.add_peer(source, tag);
  words.add(flag::received, low(bytes));
  if (high(bytes) != 0) words.add(flag::long_bytes, 0, high(bytes));
  back_ = words.back;
  put({0, 0, extra::receiving, words.flags, 0, 0});
}

void Stream::write_status(std::uint32_t request, std::int32_t source, std::int32_t tag, std::uint64_t bytes) {
  if (reserve(1, 2, last_end_) == nullptr) return;
  *--back_ = low(bytes);
  *--back_ = high(bytes);
  put({request, static_cast<std::uint32_t>(source), extra::status, flag::long_times, 0,
       static_cast<std::uint32_t>(tag)});
}

void Stream::write_members(std::uint16_t number, bool is_remote, std::span<const std::uint32_t> runs) {
  constexpr std::size_t most = most_words / 3 * 3;
  for (std::size_t done = 0; done < runs.size(); done += most) {
    const auto part = runs.subspan(done, std::min(most, runs.size() - done));
    if (reserve(1, part.size(), ticks_now()) == nullptr) return;
    for (const std::uint32_t word : part) *--back_ = word;
    put({number, is_remote ? 1U : 0U, extra::communicator, flag::lists, 0, static_cast<std::uint32_t>(part.size())});
  }
}

}  // namespace chiplog::tracer
