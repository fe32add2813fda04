// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// All samples on their way, once events are over: the rows of each, and what goes across samples.
#pragma once

#include <cstdint>
#include <vector>

#include "model/dds/buffers.hpp"
#include "model/dds/by_sample.hpp"
#include "model/dds/transmission.hpp"

namespace strata::dds {

// How the reader of a sample was notified; all kNone where it was not.
struct Notice {
  int64_t ns = kNone;
  int64_t thread = kNone;
  int64_t added_ns = kNone;  // that thread had put it into a reader's history last
  bool unnumbered = false;
  bool inferred = false;  // the reader is not known, and several of the process were notified
};

class Wire {
 public:
  Wire(Buffers& buffers, const Samples& samples, Context& context)
      : buffers_(buffers),
        samples_(samples),
        context_(context),
        now_(buffers, context.rows.threads) {}

  // Groups the rows; counts sends that found no memory and samples that came in part.
  void finish();

  // The transmission of a sample (kNone: an empty one), until the next is asked for.
  Transmission& of(int64_t sample);

  // The first notification of a reader (kNoRow: not known) of a sample in a process. Where one side
  // does not know the reader, the first one of the sample in the process.
  Notice notice(uint32_t process, int64_t sample, int32_t reader) const;

  int64_t call_ns(int64_t call) const {
    return call == kNone ? kNone : buffers_.calls[static_cast<size_t>(call)].ns;
  }
  const Samples& samples() const { return samples_; }
  const Buffers& buffers() const { return buffers_; }

 private:
  class Queues;

  void number_calls();
  void find_full_sockets();
  void count_refused();
  void count_incomplete();
  bool is_notified(int64_t sample, uint32_t process) const;
  uint32_t process_of(uint32_t thread) const {
    return static_cast<uint32_t>(context_.rows.threads.process[thread]);
  }
  const SendCall& call_of(const SentRun& run) const { return buffers_.calls[run.call]; }

  Buffers& buffers_;
  const Samples& samples_;
  Context& context_;
  BySample sent_;
  BySample came_;
  BySample added_;
  BySample notified_;
  Transmission now_;
  int64_t loaded_ = kNone - 1;
};

}  // namespace strata::dds
