// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// All that events of the DDS hooks say of publications and takes.
#pragma once

#include "model/context.hpp"
#include "model/dds/buffers.hpp"
#include "model/dds/reads.hpp"
#include "model/dds/samples.hpp"
#include "model/dds/wire.hpp"
#include "model/dds/writes.hpp"
#include "model/event.hpp"
#include "model/steps.hpp"

namespace strata::dds {

class Middleware {
 public:
  explicit Middleware(Context& context)
      : samples_(context),
        writes_(context, samples_),
        reads_(context, samples_),
        buffers_(context, samples_),
        wire_(buffers_, samples_, context) {}

  static constexpr bool wants(EventType type) {
    return is_of_hooks(type) || type == EventType::rmw_publish || is_take_step(type) ||
           is_work_step(type);
  }
  void on(const Event& event) {
    // Other steps close what hooks opened.
    if (has_hooks_ || is_of_hooks(event.type) || event.type == EventType::rmw_publish ||
        event.type == EventType::rmw_take) {
      look(event);
    }
  }
  // From then on rows are whole, and samples can be asked for by `wire`.
  void finish();

  Reads& reads() { return reads_; }
  Wire& wire() { return wire_; }

 private:
  void look(const Event& event);
  void on_hook(const Event& event);

  Samples samples_;
  Writes writes_;
  Reads reads_;
  Buffers buffers_;
  Wire wire_;
  bool has_hooks_ = false;  // any event of theirs
};

}  // namespace strata::dds
