// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// How the sample of each message came to its reader, as far as it was seen.
//
// A message that was written before its reader could be sent anything (a late joiner) waited in the
// writer's history. A reader gets nothing before it and the writer know of each other (they are
// matched), which is some time after the later of both was made; no event marks it. What was
// written until then, a writer that keeps its history for late joiners sends afterwards. A message
// waited in the history
//
// * when it was published before its reader was made; or
// * when its write had returned before the first send to its reader of any sample of the writer:
//   the last send of the sample that reached the reader first, before it did. Nor was the message
//   itself sent to the place of that send before: what was lost and is sent again went there in its
//   write.
//
// An asynchronous writer (a flow controller) sends after its write, too, on a thread of its own: a
// writer is taken for one when none of its messages was sent within its write. Then its thread is
// given kAsynchronousNs to begin, before what it sends is from the history. So what cannot be
// known: the first messages of an asynchronous writer whose thread got no CPU for longer than that;
// over SHM, where a send to several readers at once is one event with one port, messages for a
// reader that was matched later than these; and those for the later of two readers of one
// participant.
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "model/context.hpp"
#include "model/dds/wire.hpp"
#include "model/lifetimes.hpp"

namespace strata::dds {

// A publication and a take of one message; kNone where one is not known, or the table has no rows.
struct Message {
  int64_t write = kNone;  // row of the writes
  int64_t read = kNone;   // row of the reads
  int64_t published_ns = kNone;
  int64_t source = kNone;        // process that published
  int64_t process = kNone;       // process that took
  int64_t subscription = kNone;  // its row, and when it was made
  int64_t subscribed_ns = kNone;
  bool apart = false;  // published and taken by two clocks
};

// Where it stayed in its process, with no transport.
inline constexpr int64_t kIntraProcess = -2;
// Through the memory of iceoryx, past all sockets.
inline constexpr int64_t kIceoryx = -3;

// kNone where something is not known.
struct Way {
  // From when on its reader could be sent it, if it waited for that in the writer's history; then
  // sends before do not count.
  int64_t since_ns = kNone;
  // Later than its first send by `held_ns`, for which the sender was held up in its send calls
  // until the arrival.
  int64_t sent_ns = kNone;
  int64_t held_ns = kNone;
  int64_t received_ns = kNone;  // the last fragment that came by a first transmission
  int64_t last_ns = kNone;      // the last fragment
  int64_t fragments = kNone;
  int64_t recovered = 0;      // fragments
  int64_t transport = kNone;  // number of the transport, kIntraProcess or kIceoryx
};

class Ways {
 public:
  Ways(Wire& wire, const Rows& rows) : wire_(wire), writes_(rows.writes), reads_(rows.reads) {}

  // The way of each message. What is known of writers and their readers comes from all of them.
  std::vector<Way> find(std::span<const Message> messages);

 private:
  // The send by which a reader got the first sample of a writer.
  struct First {
    int64_t arrived_ns;
    size_t message;
    int64_t call;
  };
  // What came of a message's sample.
  struct Came {
    int64_t sample = kNone;
    Arrivals arrivals;
    bool local = false;    // handed over within the process
    bool direct = false;   // through shared memory, whatever went to others
    bool iceoryx = false;  // of these: past all sockets to another process, not serialized
    int64_t last_ns = kNone;
    int64_t send = kNone;  // call by which it came
  };

  int64_t sample_of(const Message& message) const;
  void learn(const Message& message, size_t number);
  Way of(const Message& message);
  Came came(const Message& message);
  int64_t history_until(const Message& message, const Came& came);
  int64_t made_later(const Message& message) const;
  int64_t matched_later(const Message& message, const Came& came);

  Wire& wire_;
  const WritesRows& writes_;
  const ReadsRows& reads_;
  std::unordered_map<HandleKey, First, HandleHash> first_;  // by writer and subscription
  std::unordered_set<int64_t> synchronous_;                 // writers
};

}  // namespace strata::dds
