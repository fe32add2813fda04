// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// What happened to each rmw_publish within its write, on the publishing thread.
//
//     rmw_publish -> write_begin -> serialize_begin -> serialize_end -> writer_history_add
//                 -> write_end
//
// A write belongs to an rmw_publish when it is the first one after it and before the next one of
// the thread, and what it wrote is the same: by source timestamp, or where the write has none, by
// the address of the message. What lies between write_begin and write_end on that thread is of this
// write. The sample is the one that was added to the history; where that is not known, the one that
// this process sent with the source timestamp.
//
// A loaned message is in the writer's history as it is. So a write is lent when nothing was
// serialized between its begin and its writer_history_add, no events were lost meanwhile, and the
// hook of serializations binds in its process: others were seen there.
#pragma once

#include <cstdint>
#include <vector>

#include "model/context.hpp"
#include "model/dds/samples.hpp"
#include "model/dds/stamps.hpp"
#include "model/event.hpp"

namespace strata::dds {

// Whether two events are of one message: by source timestamps, else by addresses. What one side
// does not have (0 or less; 0 or kNone) does not speak against it: serialized and loaned messages
// have other addresses within the middleware.
constexpr bool is_same_message(int64_t stamp, int64_t own_stamp, int64_t address,
                               int64_t own_address) {
  if (stamp > 0 && own_stamp > 0) return stamp == own_stamp;
  const auto is_known = [](int64_t one) { return one != 0 && one != kNone; };
  return !is_known(address) || !is_known(own_address) || address == own_address;
}

class Writes {
 public:
  Writes(Context& context, Samples& samples)
      : context_(context), rows_(context.rows.writes), samples_(samples) {}

  // Each rmw_publish gets the next row.
  void publish(const Event& event);
  // There are events of the DDS hooks. Without any, there are no rows.
  void make_rows();
  void write_begin(const Event& event);
  void serialize_begin(const Event& event);
  void serialize_end(const Event& event);
  void writer_history_add(const Event& event);
  void write_end(const Event& event);

  // When all events are over: ends what is open.
  void close();
  // Once samples are resolved, and rows of `publishes` are whole: which samples must be known by
  // their stamps, and all of them.
  void ask(SamplesByStamp& asked);
  void finish(const SamplesByStamp& sent);

 private:
  // The last rmw_publish of a thread, and its write.
  struct Open {
    int64_t row = kNone;  // kNone: there is none, or its write has ended
    uint32_t process = 0;
    int64_t publish_ns = kNone;
    int64_t stamp = kNone;
    int64_t message = kNone;
    bool begun = false;
    int64_t data = kNone;
    int64_t serialize_begin_ns = kNone;
    bool serialize_begun = false;
    int64_t serialize_end_ns = kNone;
    bool serialized = false;
    int64_t size = kNone;
    bool added = false;
    int64_t added_ns = kNone;
    int64_t added_stamp = kNone;
    int64_t added_size = kNone;
    int32_t sample = kNoRow;
    int64_t end_ns = kNone;
  };
  struct Lent {
    int64_t row;
    uint32_t process;
  };

  void close(Open& open);
  uint32_t process_of(size_t row) const;

  Context& context_;
  WritesRows& rows_;
  Samples& samples_;
  uint32_t published_ = 0;
  bool makes_rows_ = false;
  PerThread<Open> open_;
  std::vector<bool> hooked_;  // by process: something was serialized there
  std::vector<Lent> lent_;
};

}  // namespace strata::dds
