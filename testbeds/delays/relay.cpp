// A switch with known links: forwards Ethernet frames between network namespaces, each at the time at which it would
// have arrived. `relay BITS_PER_SECOND DELAY_US NAMESPACE…` makes a TAP device "uplink" in each namespace, whose
// address is 02:00:00:00:00:NN, the namespace's number from 0. A line "BITS_PER_SECOND DELAY_US" on standard input
// changes all links, and is answered by "set"; at its end the devices go, and a line says how late frames were. Needs
// root.

#include <fcntl.h>
#include <linux/if.h>
#include <linux/if_tun.h>
#include <poll.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <queue>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::nanoseconds;

constexpr std::size_t max_frame_bytes = 9216;
constexpr std::size_t ethernet_header_bytes = 14;
constexpr int frames_in_a_row = 16;  // of one host, before the other hosts and the frames that are due
constexpr int priority = 60;         // above that of the programs that are measured

[[noreturn]] void fail(const std::string& what) { throw std::system_error(errno, std::generic_category(), what); }

struct LinkSpeed {
  double bits_per_second;
  nanoseconds delay;

  nanoseconds on_wire(std::size_t bytes) const {
    return nanoseconds{static_cast<std::int64_t>(static_cast<double>(bytes) * 8e9 / bits_per_second)};
  }
};

LinkSpeed parse_speed(const char* rate, const char* delay_us) {
  const double bits = std::atof(rate), delay = std::atof(delay_us);
  if (!(bits > 0) || !(delay >= 0)) throw std::invalid_argument("a rate above 0 and a delay of at least 0 are needed");
  return {bits, nanoseconds{static_cast<std::int64_t>(delay * 1e3)}};
}

struct Frame {
  Clock::time_point due;
  std::uint64_t number;  // frames that are due at once keep their order
  std::size_t to;
  std::vector<std::uint8_t> bytes;
};

struct IsLater {
  bool operator()(const std::unique_ptr<Frame>& a, const std::unique_ptr<Frame>& b) const {
    return a->due != b->due ? a->due > b->due : a->number > b->number;
  }
};

/// A host's link to the switch, in both directions; each is busy with one frame at a time.
struct Host {
  int device;
  Clock::time_point sends_until{};
  Clock::time_point receives_until{};
};

int open_device(const std::string& space) {
  const int handle = open(("/var/run/netns/" + space).c_str(), O_RDONLY | O_CLOEXEC);
  if (handle < 0 || setns(handle, CLONE_NEWNET) != 0) fail(space);
  close(handle);
  const int device = open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC);
  ifreq request{};
  std::strcpy(request.ifr_name, "uplink");
  request.ifr_flags = IFF_TAP | IFF_NO_PI;
  if (device < 0 || ioctl(device, TUNSETIFF, &request) != 0) fail("a TAP device in " + space);
  return device;
}

class Relay {
 public:
  Relay(LinkSpeed speed, const std::vector<std::string>& spaces) : speed_(speed) {
    for (const auto& space : spaces) hosts_.push_back({open_device(space)});
  }

  void run() {
    std::vector<pollfd> watched{{STDIN_FILENO, POLLIN, 0}};
    for (const auto& host : hosts_) watched.push_back({host.device, POLLIN, 0});
    for (;;) {
      deliver();
      const timespec wait = until_next();
      if (ppoll(watched.data(), watched.size(), waiting_.empty() ? nullptr : &wait, nullptr) < 0 && errno != EINTR)
        fail("poll");
      for (std::size_t host = 0; host < hosts_.size(); ++host)
        if (watched[host + 1].revents & POLLIN) take(host);
      if (watched[0].revents && !obey()) return;
    }
  }

  void report() const {
    const double frames = static_cast<double>(std::max<std::uint64_t>(delivered_, 1));
    std::printf("%llu frames, late by %.1f us in the mean, %.0f us at most\n",
                static_cast<unsigned long long>(delivered_), static_cast<double>(late_.count()) / frames / 1e3,
                static_cast<double>(latest_.count()) / 1e3);
  }

 private:
  timespec until_next() const {
    if (waiting_.empty()) return {};
    const auto left = std::max<nanoseconds>(waiting_.top()->due - Clock::now(), nanoseconds{0}).count();
    return {left / 1'000'000'000, left % 1'000'000'000};
  }

  void take(std::size_t from) {
    for (int count = 0; count < frames_in_a_row; ++count) {
      auto frame = std::make_unique<Frame>();
      frame->bytes.resize(max_frame_bytes);
      const auto length = read(hosts_[from].device, frame->bytes.data(), max_frame_bytes);
      if (length < static_cast<ssize_t>(ethernet_header_bytes)) return;
      frame->bytes.resize(static_cast<std::size_t>(length));
      frame->to = frame->bytes[5];
      // Hosts know each other's addresses: nothing needs to be sent to all.
      if ((frame->bytes[0] & 1) != 0 || frame->to >= hosts_.size()) continue;
      send(hosts_[from], std::move(frame));
    }
  }

  /// The switch forwards a frame's bits as they come; where the receiver's link is busy, the frame waits there.
  void send(Host& from, std::unique_ptr<Frame> frame) {
    const auto wire = speed_.on_wire(frame->bytes.size());
    auto& to = hosts_[frame->to];
    const auto begins = std::max(Clock::now(), from.sends_until);
    from.sends_until = begins + wire;
    to.receives_until = std::max(begins, to.receives_until) + wire;
    frame->due = to.receives_until + speed_.delay;
    frame->number = number_++;
    waiting_.push(std::move(frame));
  }

  void deliver() {
    for (auto now = Clock::now(); !waiting_.empty() && waiting_.top()->due <= now; now = Clock::now()) {
      const Frame& frame = *waiting_.top();
      const auto written = write(hosts_[frame.to].device, frame.bytes.data(), frame.bytes.size());
      // A device that is down, or full, loses the frame.
      if (written < 0 && errno != EIO && errno != EAGAIN && errno != ENOBUFS) fail("write");
      ++delivered_;
      late_ += now - frame.due;
      latest_ = std::max<nanoseconds>(latest_, now - frame.due);
      waiting_.pop();
    }
  }

  /// False at the end of standard input.
  bool obey() {
    char text[256];
    const auto length = read(STDIN_FILENO, text, sizeof text - 1);
    if (length <= 0) return false;
    text[length] = '\0';
    char* rest = nullptr;
    std::strtod(text, &rest);
    speed_ = parse_speed(text, rest);
    std::puts("set");
    return true;
  }

  LinkSpeed speed_;
  std::vector<Host> hosts_;
  std::priority_queue<std::unique_ptr<Frame>, std::vector<std::unique_ptr<Frame>>, IsLater> waiting_;
  std::uint64_t number_ = 0;
  std::uint64_t delivered_ = 0;
  nanoseconds late_{0};
  nanoseconds latest_{0};
};

/// Keeps each processor from halting, with whatever nobody else wants of it: a virtual one that has halted takes tens
/// of microseconds to wake up, and whether it does depends on what else runs on this machine.
std::vector<std::jthread> keep_awake() {
  std::vector<std::jthread> threads;
  for (unsigned processor = 0; processor < std::thread::hardware_concurrency(); ++processor)
    threads.emplace_back([processor](const std::stop_token& stop) {
      cpu_set_t here;
      CPU_ZERO(&here);
      CPU_SET(processor, &here);
      const sched_param none{};
      if (sched_setaffinity(0, sizeof here, &here) != 0 || sched_setscheduler(0, SCHED_IDLE, &none) != 0) return;
      while (!stop.stop_requested()) {
      }
    });
  return threads;
}

}  // namespace

int main(int count, char** words) try {
  setvbuf(stdout, nullptr, _IOLBF, 0);
  if (count < 5) throw std::invalid_argument("relay BITS_PER_SECOND DELAY_US NAMESPACE NAMESPACE…");
  prctl(PR_SET_TIMERSLACK, 1UL);
  const auto awake = keep_awake();
  const sched_param real_time{.sched_priority = priority};
  if (sched_setscheduler(0, SCHED_FIFO, &real_time) != 0) std::fprintf(stderr, "relay: no real-time priority\n");
  Relay relay(parse_speed(words[1], words[2]), std::vector<std::string>(words + 3, words + count));
  std::puts("set");
  relay.run();
  relay.report();
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "relay: %s\n", error.what());
  return 1;
}
