// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// What happened to each take within the middleware, on the taking thread.
//
//     take_begin -> deserialize_begin -> deserialize_end -> take_end -> rmw_take
//
// A DDS take belongs to an rmw_take when it is the last one that ended before it and after the
// rmw_take before, on the same thread, it took something, and that is the same: by source
// timestamp, or where it has none, by the address of the message. The take of a loaned message is
// its DDS take. Its sample is the one that it names; where it names none, the one that this process
// received with the same source timestamp.
#pragma once

#include <cstdint>
#include <vector>

#include "model/context.hpp"
#include "model/dds/samples.hpp"
#include "model/dds/stamps.hpp"
#include "model/dds/wire.hpp"
#include "model/event.hpp"
#include "model/lifetimes.hpp"

namespace strata::dds {

// A take that ended; kNone where something is not known.
struct DdsTake {
  int64_t at = kNone;  // Event::at of its take_end; kNone: none since the last rmw_take
  int64_t begin_ns = kNone;
  int64_t deserialize_begin_ns = kNone;
  int64_t deserialize_end_ns = kNone;
  int64_t made_ns = kNone;  // its reader was made known
  int64_t buffer = kNone;
  int64_t stamp = kNone;
  int64_t taken = 0;
  int32_t sample = kNoRow;  // as it was named
  int32_t reader = kNoRow;  // number of its GUID among the bytes
};

class Reads {
 public:
  Reads(Context& context, Samples& samples)
      : context_(context), rows_(context.rows.reads), samples_(samples) {}

  void create_reader(const Event& event);
  void take_begin(const Event& event);
  void deserialize_begin(const Event& event);
  void deserialize_end(const Event& event);
  void take_end(const Event& event);
  // Each rmw_take of something with a source timestamp gets the next row.
  void rmw_take(const Event& event);
  // There are events of the DDS hooks. Without any, there are no rows.
  void make_rows();

  // The thread did something else than to take: its last DDS take may have been of a loan.
  void work(const Event& event);
  // Another take within the middleware, or by its clients, came after its last DDS take.
  void other_take(const Event& event) { open_[event.thread].may_be_loan = false; }

  // Once samples are resolved, and rows of `takes` are whole (those of loaned messages, too): which
  // samples must be known by their stamps, and all of them. Rows become those of `takes`.
  void ask(SamplesByStamp& asked);
  void finish(const SamplesByStamp& received, const Wire& wire);

 private:
  // What a thread takes since its last rmw_take.
  struct Open {
    bool begun = false;
    int64_t begin_ns = kNone;
    bool deserialize_begun = false;
    int64_t deserialize_begin_ns = kNone;
    bool deserialized = false;
    int64_t deserialize_end_ns = kNone;
    DdsTake last;
    bool may_be_loan = false;
  };
  struct Reader {
    int32_t guid;
    int64_t made_ns;
  };

  void add(const DdsTake& take);
  void add_loaned();
  uint32_t process_of(size_t row) const;

  Context& context_;
  ReadsRows& rows_;
  Samples& samples_;
  uint32_t taken_ = 0;
  bool makes_rows_ = false;
  PerThread<Open> open_;
  Living readers_;  // rows of made_
  std::vector<Reader> made_;
  std::vector<DdsTake> loans_;  // that may be
};

}  // namespace strata::dds
