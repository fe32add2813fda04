// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// Buffers that were sent and received, and what readers' histories got of them: a row for each
// sample, or run of fragments of one, as compact as they may be.
#pragma once

#include <algorithm>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "model/context.hpp"
#include "model/dds/samples.hpp"
#include "model/dds/stamps.hpp"
#include "model/event.hpp"

namespace strata::dds {

inline constexpr int64_t kDataSharing = 65536;
inline constexpr int32_t kShm = 16;
constexpr bool is_tcp(int64_t transport) { return transport == 4 || transport == 8; }
constexpr bool is_udp(int64_t transport) { return transport == 1 || transport == 2; }

// A field that no trace has beyond 31 bits.
constexpr int32_t narrow(int64_t value) {
  return static_cast<int32_t>(std::clamp<int64_t>(value, INT32_MIN, INT32_MAX));
}

// Of any two times.
constexpr int64_t elapsed_ns(int64_t from_ns, int64_t to_ns) {
  return static_cast<int64_t>(static_cast<uint64_t>(to_ns) - static_cast<uint64_t>(from_ns));
}

// A buffer that was handed to a transport.
struct SendCall {
  int64_t ns;
  int64_t end_ns = kNone;  // kNone: its end was not recorded
  uint32_t thread;
  uint32_t number = 0;  // among the calls of its thread that sent something, by time
  int32_t bytes;
  int32_t transport;
  int32_t port = -1;
  // Where it went: a number of `Places`; one of its own (below kNoRow) where its end was not
  // recorded. `place` is another one where SHM served just one reader, whose port is known.
  int32_t destination;
  int32_t place;
  int32_t destinations = -1;
  bool refused = false;  // it found no memory: a full socket buffer, or what readers share
  bool full = false;     // the socket may have been full when it began

  bool is_offered_again() const { return refused && is_tcp(transport); }
};

// Samples, or runs of fragments, in a buffer that was sent.
struct SentRun {
  uint32_t call;
  int32_t sample;    // row that an event named
  int32_t fragment;  // the first one
  uint16_t count;    // of fragments, at least 1
  bool further;      // not the first of its buffer
};

// The same of a buffer that was received.
struct CameRun {
  int64_t ns;  // of its buffer
  uint32_t thread;
  int32_t sample;
  int32_t fragment;
  int32_t transport;
  int32_t port;
  uint16_t count;
  bool further;
};

// A thread put a sample into a reader's history.
struct HistoryAdd {
  int64_t ns;
  uint32_t thread;
  int32_t sample;
};

// A thread notified a reader of a sample.
struct Notification {
  int64_t ns;
  uint32_t thread;
  int32_t sample;
  int32_t reader;   // number of its GUID, or kNoRow
  bool unnumbered;  // no sequence number came with it
};

class Buffers {
 public:
  Buffers(Context& context, Samples& samples)
      : samples_(samples), ledger_(context.ledger), threads_(context.rows.threads) {}

  void send_begin(const Event& event);
  void send_sample(const Event& event);
  void send_end(const Event& event);
  void receive(const Event& event);
  void receive_sample(const Event& event);
  void reader_history_add(const Event& event);
  void reader_notify(const Event& event);

  // Notes the samples that each process sent, or received, with the stamps that are asked.
  void note_sent(SamplesByStamp& asked) const;
  void note_received(SamplesByStamp& asked) const;
  std::vector<Unnumbered> unnumbered() const;

  Column<SendCall> calls;
  Column<SentRun> sent;
  Column<CameRun> came;
  Column<HistoryAdd> added;
  Column<Notification> notified;

 private:
  // What a thread sent, received and added last.
  struct Last {
    int64_t call = kNone;
    bool is_open = false;  // the call's end may come
    int64_t received_ns = kNone;
    int32_t transport = 0;
    int32_t port = 0;
    bool received = false;
    int64_t added_stamp = kNone;  // of the history add before, if it had no number
    int64_t added_writer = kNone;
  };
  // A further sample whose buffer's event was lost.
  struct Stray {
    uint32_t process;
    int32_t sample;
    int64_t stamp;
  };

  int32_t named(const Event& event, int guid, int sequence, int stamp) {
    return samples_.named(samples_.guid(event[guid]), event[sequence], event[stamp]);
  }
  // Fragments of a sample that an event names, as far as they are looked at.
  struct Fragments {
    int32_t first;
    uint16_t count;
  };
  Fragments fragments_of(int64_t first, int64_t count);
  int32_t place(int64_t destination);
  uint32_t process_of(uint32_t thread) const {
    return static_cast<uint32_t>(threads_.process[thread]);
  }
  void add_came(const Event& event, const Last& buffer, int32_t sample, int64_t fragment,
                int64_t count, int64_t stamp, bool further);

  Samples& samples_;
  Ledger& ledger_;
  const ThreadsRows& threads_;
  PerThread<Last> last_;
  std::unordered_map<int64_t, int32_t> places_;
  RowStamps sent_stamps_;
  RowStamps came_stamps_;
  RowStamps added_stamps_;
  std::vector<Stray> strays_sent_;
  std::vector<Stray> strays_came_;
};

}  // namespace strata::dds
