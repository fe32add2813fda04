// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// What was lost between a sensor and its messages, each loss once, under the cause that is known:
//
// * the socket's buffer, or the appsink, was full: the counter of its queue rose;
// * a packet of a frame never came, beyond what the socket dropped since the frame before was
//   complete, and what was left of that frame's drops: a packet that closes a frame may be the next
//   one's first, and what was dropped before it may be of either;
// * a complete frame was not published, though others of its source were. A source's last frame
//   does not count: the trace ended.
//
// A source from which nothing was published lost nothing: nobody wanted it, or its messages are not
// known to be its own. It is counted as such.
#pragma once

#include "model/context.hpp"

namespace strata::driver {

enum class LossCause : uint8_t { socket_full, appsink_full, never_came, not_published };

// Makes `driver_losses`, after frames and links.
void find_losses(Context& context);

}  // namespace strata::driver
