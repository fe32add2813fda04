// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// Single events as bytes that can stand in another packet of their stream.
#pragma once

#include <cstdint>
#include <vector>

#include "decode/trace_set.hpp"

namespace ctf {

struct ExtractedEvent {
  size_t event_class = 0;  // of TraceSet::event_classes
  size_t stream = 0;
  size_t packet = 0;    // of the stream
  uint64_t cycles = 0;  // the event's time
  // The event with LTTng's extended header, which has the whole id and time: no other event and no
  // place in a packet is needed to read it.
  std::vector<uint8_t> bytes;
  // Offsets in `bytes`: the begin of the first field, then the end of each field, in the order of
  // the stream's event context, the event's context and its payload.
  std::vector<uint32_t> fields;
};

// Takes the events of the classes that are `wanted` (by the number of TraceSet::event_classes) out
// of all packets; those behind damaged bytes of a packet are left out. Stream after stream, in the
// order of each. Throws std::invalid_argument when a wanted class has another header than LTTng's
// or fields that are aligned to more than a byte, std::system_error when a file cannot be read.
std::vector<ExtractedEvent> extract_events(const TraceSet& traces, const std::vector<bool>& wanted);

}  // namespace ctf
