// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// Intervals one after the other in time, a few bytes each: a thread that spins has millions of
// waits. Also a clock: how long they had been in all by an instant.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include "model/byte_rows.hpp"
#include "model/column.hpp"
#include "model/differences.hpp"

namespace strata {

struct Interval {
  int64_t start_ns = kNone;
  int64_t end_ns = kNone;
};

class IntervalLog {
  struct Block {
    int64_t start_ns;   // of its first interval
    int64_t end_ns;     // of the last interval before it, from which that is counted
    int64_t before_ns;  // the length of all intervals before it
    size_t place;
  };

 public:
  // Begins no earlier than the last one ended.
  void add(const Interval& next) {
    if (size_ % kBlock == 0) blocks_.push_back({next.start_ns, end_ns_, length_ns_, rows_.size()});
    const int64_t length_ns = minus(next.end_ns, next.start_ns);
    rows_.put(static_cast<uint64_t>(minus(next.start_ns, end_ns_)));
    rows_.put(static_cast<uint64_t>(length_ns));
    end_ns_ = next.end_ns;
    length_ns_ = plus(length_ns_, length_ns);
    ++size_;
  }

  size_t size() const { return size_; }
  // Of all intervals, of which there is one at least.
  int64_t first_ns() const { return blocks_[0].start_ns; }
  int64_t last_ns() const { return end_ns_; }
  int64_t length_ns() const { return length_ns_; }
  size_t bytes() const { return rows_.size() + blocks_.size() * sizeof(Block); }

  // Reads intervals in order of time.
  class Cursor {
   public:
    explicit Cursor(const IntervalLog& log) : left_(log.size_), rows_(log.rows_) {}

    bool is_over() const { return left_ == 0; }
    Interval next() {
      --left_;
      const int64_t start_ns = plus(end_ns_, static_cast<int64_t>(rows_.number()));
      end_ns_ = plus(start_ns, static_cast<int64_t>(rows_.number()));
      return {start_ns, end_ns_};
    }

   private:
    friend class IntervalLog;
    Cursor(const IntervalLog& log, size_t block)
        : left_(log.size_ - block * kBlock),
          end_ns_(log.blocks_[block].end_ns),
          rows_(log.rows_, log.blocks_[block].place) {}

    size_t left_;
    int64_t end_ns_ = 0;
    ByteRows::Cursor rows_;
  };

  // The length of all intervals up to an instant.
  int64_t elapsed(int64_t at_ns) const {
    const Begun begun = begun_by(at_ns);
    const int64_t beyond_ns = begun.last.end_ns > at_ns ? minus(begun.last.end_ns, at_ns) : 0;
    return minus(begun.length_ns, beyond_ns);
  }
  int64_t within(int64_t begin_ns, int64_t end_ns) const {
    return minus(elapsed(end_ns), elapsed(begin_ns));
  }
  // When the last interval up to an instant ended; kNone where none did.
  int64_t last_end(int64_t at_ns) const {
    const Begun begun = begun_by(at_ns);
    if (begun.count == 0) return kNone;
    if (begun.last.end_ns <= at_ns) return begun.last.end_ns;
    return begun.count > 1 ? begun.previous_end_ns : kNone;
  }

 private:
  static constexpr size_t kBlock = 32;

  struct Begun {
    size_t count = 0;
    int64_t length_ns = 0;  // of all of them
    Interval last{INT64_MIN, INT64_MIN};
    int64_t previous_end_ns = kNone;  // of the one before the last
  };

  // Those that began at an instant or before it.
  Begun begun_by(int64_t at_ns) const {
    const std::span<const Block> all(blocks_.data(), blocks_.size());
    const auto after = std::ranges::upper_bound(all, at_ns, {}, &Block::start_ns);
    if (after == all.begin()) return {};
    const auto block = static_cast<size_t>(after - all.begin()) - 1;
    Begun begun{block * kBlock, blocks_[block].before_ns, {INT64_MIN, blocks_[block].end_ns}};
    for (Cursor cursor(*this, block); !cursor.is_over();) {
      const Interval next = cursor.next();
      if (next.start_ns > at_ns) break;
      begun.previous_end_ns = begun.last.end_ns;
      begun.last = next;
      begun.length_ns = plus(begun.length_ns, minus(next.end_ns, next.start_ns));
      ++begun.count;
    }
    return begun;
  }

  ByteRows rows_;
  Column<Block> blocks_;
  size_t size_ = 0;
  int64_t end_ns_ = 0;  // of the last one
  int64_t length_ns_ = 0;
};

}  // namespace strata
