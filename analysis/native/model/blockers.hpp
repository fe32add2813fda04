// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// What ran while messages waited to be picked. The rules are those of strata.layers.blockers.
//
// The work of a thread is made when its messages are looked at, and goes after them: what is kept
// of all is the result, and the executions of callback groups that messages waited for.
#pragma once

#include <cstdint>

#include "model/clocks.hpp"
#include "storage/many.hpp"

namespace strata {

// Which thread took each message, the lane of its executor, the message's callback group (kNone:
// none), and from when to when it waited.
struct WaitingColumns {
  Ints thread;
  Ints lane;
  Ints group;
  Ints begin_ns;
  Ints end_ns;

  size_t size() const { return thread.size(); }
};

// Outermost executions. `took_ns`: since when the thread took what the execution was started for;
// kNone: no take started it.
struct WorkColumns {
  Ints thread;
  Ints start_ns;
  Ints until_ns;
  Ints callback;
  Ints took_ns;
};

// Executions of callback groups, by group and time.
struct RunColumns {
  Spans spans;  // of groups
  Ints callback;
};

// Executors' waits for work by lane, executions by callback group, and both at once.
struct ExecutorClocks {
  const Clock& waits;
  const Clock& running;
  const Overlap& both;
};

// Rows of (message, callback, work), in that order. A callback is kNone for work beside that of its
// thread that ran longest, or that is of no known one; `is_take`: a message was taken for it.
struct BlockerRows {
  Many<int64_t> message;
  Many<int64_t> callback;
  Many<int64_t> is_take;
  Many<int64_t> duration_ns;
};

// Throws std::invalid_argument for columns of different lengths, and numbers that 30 bits do not
// hold.
BlockerRows find_blockers(const WaitingColumns& messages, const WorkColumns& work,
                          const RunColumns& runs, const ExecutorClocks& clocks);

}  // namespace strata
