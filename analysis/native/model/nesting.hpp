// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// Threads whose callbacks nest as those of one thread cannot: they are two threads.
//
// A callback that begins within another ends before it. Two processes in different pid namespaces
// of one host (containers) may have one id, and their threads, too: then callbacks of both look
// like one thread's, and begin and end without regard to each other.
#pragma once

#include "model/context.hpp"

namespace strata {

// Counts the processes whose callbacks do not nest; the executions are finished.
void count_contradictory_nesting(Context& context);

}  // namespace strata
