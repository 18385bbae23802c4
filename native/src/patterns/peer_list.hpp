// One send to each of some peers, all posted by one call.
#pragma once

#include "chiplog/remote_memory.hpp"

namespace chiplog {

// What can be prepared is prepared by the constructor, before the clock starts.
template <PostsLists T>
class PeerList {
 public:
  PeerList(T& transport, Rank first, Rank last, typename T::Buffer& buffer, std::size_t bytes)
      : transport_(transport), first_(first), last_(last), buffer_(buffer), bytes_(bytes) {
    if constexpr (PreparesLists<T>) transport_.prepare_list(first_, last_, buffer_, bytes_);
  }
  ~PeerList() {
    if constexpr (PreparesLists<T>) transport_.drop_list();
  }
  PeerList(const PeerList&) = delete;
  PeerList& operator=(const PeerList&) = delete;

  void start() {
    if constexpr (PreparesLists<T>) {
      transport_.start_list();
    } else {
      transport_.begin_list();
      for (Rank peer = first_; peer <= last_; ++peer) transport_.post_send(peer, buffer_, bytes_);
      transport_.end_list();
    }
  }
  void wait() {
    if constexpr (PreparesLists<T>) {
      transport_.wait_list();
    } else {
      transport_.wait_sends();
    }
  }

 private:
  T& transport_;
  Rank first_;
  Rank last_;
  typename T::Buffer& buffer_;
  std::size_t bytes_;
};

}  // namespace chiplog
