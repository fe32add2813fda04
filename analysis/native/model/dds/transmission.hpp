// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// One sample on its way: what was sent, what arrived where, what had to be sent again.
//
// A large sample travels in fragments; a whole one counts as a single fragment of number 0. The
// first time that a fragment goes to a destination is its first transmission; each further time is
// a resend (RTPS: a repair). A fragment that a thread got only after a resend of it to its port was
// recovered, unless all copies arrived: then none was lost, and the first to come was the first
// transmission. TCP loses nothing: what it refuses is offered again.
//
// Arrivals are known by receiving thread: several participants of a process each have their own.
//
// A send call returns after the data are where the receiver finds them, at some instant within it
// that no event marks; a reader may have them before it returns. A call takes kUsualNs and a
// nanosecond for each byte at most when nothing keeps its thread from running. What it took beyond
// that, until the arrival, its thread was held up in it: it waited for a CPU, was stopped, or
// paged. Between the calls for two fragments, or destinations, of a sample it is held up as well
// when it sends nothing else for longer than kUsualNs: what it has not sent yet cannot arrive.
//
// * Over SHM nothing in a call waits for the reader: all of it is the sender's.
// * A socket may make a call wait until its buffer is emptied: where it may have been full when the
//   call began (Wire), nothing is held up.
// * Between calls nothing but the sender decides when it goes on.
// * TCP waits for the reader itself, and data sharing sends nothing: there nothing is held up.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "model/dds/buffers.hpp"

namespace strata::dds {

// What a call takes at most when nothing keeps its thread from running.
inline constexpr int64_t kUsualNs = 50'000;
constexpr int64_t usual_ns(const SendCall& call) {
  return kUsualNs + std::max<int64_t>(call.bytes, 0);
}
constexpr bool is_slow(const SendCall& call) {
  return call.end_ns != kNone && elapsed_ns(call.ns, call.end_ns) > usual_ns(call);
}

// Of all first transmissions of a sample; kNone where there were none.
struct Sends {
  int64_t first_send_ns = kNone;
  int64_t first_sent_ns = kNone;  // the last of their ends; kNone if none was recorded
  int64_t transport = kNone;
  int64_t fragments = kNone;
};

// What a thread, or a process, got of a sample; kNone where it got nothing.
struct Arrivals {
  int64_t received_ns = kNone;  // the last fragment that came by a first transmission
  int64_t last_ns = kNone;      // the last fragment of all
  int64_t recovered = kNone;    // fragments
  int64_t arrived = kNone;      // fragments
  int64_t transport = kNone;
  int64_t port = kNone;
};

class Transmission {
 public:
  struct Send {
    int64_t ns;
    uint32_t call;
    int32_t fragment;
    bool again;
  };
  // The first copy of a fragment that a thread got.
  struct Arrival {
    uint32_t process;
    uint32_t thread;
    int64_t vtid;
    int32_t fragment;
    int64_t ns;
    int64_t copies;
    int32_t transport;
    int32_t port;
    bool recovered;
  };
  struct Held {
    int64_t ns;
    int64_t end_ns;
    int64_t usual_ns;
  };
  // Arrivals of a thread, or a process.
  struct Place {
    uint32_t number;
    Arrivals arrivals;
  };

  Transmission(const Buffers& buffers, const ThreadsRows& threads)
      : buffers_(buffers), threads_(threads) {}

  // Becomes that of a sample: its rows of `sent` and `came`, in their order.
  void load(std::span<const uint32_t> sent, std::span<const uint32_t> came);

  // A fragment each, in order of time.
  std::span<const Send> all_sends() const { return send_; }
  const Sends& sends() const { return sends_; }
  bool sent_again() const { return sent_again_; }
  std::span<const Place> by_thread() const { return by_thread_; }
  std::span<const Place> by_process() const { return by_process_; }
  Arrivals on_thread(int64_t thread) const { return find(by_thread_, thread); }
  Arrivals in_process(int64_t process) const { return find(by_process_, process); }
  // When a fragment came last by UDP, anywhere; kNone if it never did.
  int64_t last_udp_ns(int32_t fragment);

  // How long its senders were held up, by first transmissions from an instant on and before
  // another, the arrival at a reader.
  int64_t held_up(int64_t since_ns, int64_t until_ns);
  std::span<const Held> held();

  // The call of the last send up to an instant, to the port at which it came, where one is known to
  // go there; kNone if none was.
  int64_t last_send_until(int64_t port, int64_t until_ns) const;
  // The first send at or after an instant, to the place of another call; kNone if none was.
  int64_t first_send_since(int64_t like, int64_t since_ns) const;
  // Whether it may have been sent to the place of a call before an instant.
  bool sent_before(int64_t like, int64_t at_ns) const;

 private:
  struct Came {
    int64_t ns;
    uint32_t thread;
    int32_t fragment;
    int32_t transport;
    int32_t port;
  };

  static Arrivals find(const std::vector<Place>& places, int64_t number);
  const SendCall& call(const Send& send) const { return buffers_.calls[send.call]; }
  void load_sends(std::span<const uint32_t> rows);
  void mark_resends();
  void load_arrivals(std::span<const uint32_t> rows);
  void find_first_arrivals();
  bool is_recovered(const Arrival& arrival);
  void sum_by_thread();
  void sum_by_process();
  void find_held_calls();
  void find_stretches_between_calls();
  bool counts_as_held(const Send& send) const;

  const Buffers& buffers_;
  const ThreadsRows& threads_;
  std::vector<uint32_t> rows_;
  std::vector<Send> send_;
  Sends sends_;
  bool sent_again_ = false;
  bool may_be_recovered_ = false;
  std::vector<uint32_t> by_fragment_;  // of `send_`, where there are resends
  std::vector<Came> came_;
  std::vector<Arrival> arrival_;
  std::vector<Place> by_thread_;
  std::vector<Place> by_process_;
  std::vector<Held> held_;
  bool is_held_known_ = false;
  std::vector<std::pair<int32_t, int64_t>> udp_;  // (fragment, time) of arrivals, in this order
  bool is_udp_known_ = false;
  // Kept between samples, so that nothing is allocated for each.
  std::vector<uint32_t> order_;
  std::vector<std::pair<int32_t, bool>> copies_;
};

}  // namespace strata::dds
