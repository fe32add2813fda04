// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "model/uses/driver_uses.hpp"

#include <algorithm>
#include <vector>

#include "model/driver/driver.hpp"

namespace strata {
namespace {

using driver::FrameEvent;

// A frame whose last read is known: it has the reads of its source from `first` to `last`.
struct Stretch {
  int64_t first = INT64_MAX;  // of a frame that was not told whole: it has none
  int64_t last = kNone;
  bool is_told = false;  // no frame that was inferred
};

class Counting {
 public:
  explicit Counting(Context& context)
      : rows_(context.rows),
        uses_(context.uses),
        losses_(context.settings.losses),
        stretches_(rows_.driver_sources.size()),
        is_bounded_(rows_.driver_sources.size(), false) {}

  void run() {
    count_frame_events();
    find_stretches();
    count_packets();
  }

 private:
  bool is_earlier(int32_t source) const {
    return rows_.driver_sources.begin_ns[static_cast<size_t>(source)] == kNone;
  }

  void count_frame_events() {
    const auto& events = rows_.driver_frame_events;
    for (size_t row = 0; row < events.size(); ++row) {
      if (events.kind[row] == static_cast<uint8_t>(FrameEvent::boundary)) {
        is_bounded_[static_cast<size_t>(events.source[row])] = true;
      }
    }
    std::vector<uint8_t> said(rows_.driver_frames.size(), 0);  // by frame: bits of kinds
    for (size_t row = 0; row < events.size(); ++row) {
      const auto bit = static_cast<uint8_t>(1U << events.kind[row]);
      uint8_t& bits = said[static_cast<size_t>(events.frame[row])];
      const bool is_first = (bits & bit) == 0;
      bits |= bit;
      switch (static_cast<FrameEvent>(events.kind[row])) {
        case FrameEvent::boundary:
          uses_.count(EventType::frame_boundary, use_of_boundary(row, is_first));
          break;
        case FrameEvent::pulled:
          uses_.count(EventType::buffer_pulled, is_first ? Use::frame : Use::unexplained);
          break;
        case FrameEvent::cloud_ready:
          uses_.count(EventType::cloud_ready, use_of_ready(row, is_first));
          break;
        case FrameEvent::copy_done:
          uses_.count(EventType::copy_done, use_of_ready(row, is_first));
          break;
      }
    }
  }

  Use use_of_boundary(size_t row, bool is_first) const {
    const auto& events = rows_.driver_frame_events;
    if (pick(rows_.driver_frames.last, events.frame[row]) != kNone) {
      return is_first ? Use::completes_frame : Use::unexplained;
    }
    if (losses_.touch(0, events.ns[row])) return Use::partner_lost;
    return is_earlier(events.source[row]) ? Use::partner_earlier : Use::unexplained;
  }

  // Of what says that a frame is in a message.
  Use use_of_ready(size_t row, bool is_first) const {
    const auto& events = rows_.driver_frame_events;
    const auto& frames = rows_.driver_frames;
    const auto frame = static_cast<size_t>(events.frame[row]);
    const bool is_complete = frames.number[frame] != kNone &&
                             (frames.boundary_ns[frame] != kNone || frames.last[frame] != kNone);
    const auto source = static_cast<size_t>(events.source[row]);
    if (is_complete) {
      if (is_first) return Use::frame_in_message;
    } else if (losses_.touch(0, events.ns[row])) {
      return Use::partner_lost;
    } else if (is_earlier(events.source[row])) {
      return Use::partner_earlier;
    }
    const bool tells = is_bounded_[source] || rows_.driver_sources.is_pulled[source] != 0;
    return tells ? Use::unexplained : Use::frame_untold;
  }

  // By source, in the order of their ends. A frame whose first packet is not in the trace has all
  // reads since the frame before.
  void find_stretches() {
    const auto& frames = rows_.driver_frames;
    std::vector<std::vector<size_t>> known(stretches_.size());
    for (size_t frame = 0; frame < frames.size(); ++frame) {
      if (frames.last[frame] == kNone) continue;
      known[static_cast<size_t>(frames.source[frame])].push_back(frame);
    }
    const auto last = [&](size_t frame) { return frames.last[frame]; };
    for (size_t source = 0; source < known.size(); ++source) {
      if (!std::ranges::is_sorted(known[source], {}, last)) {
        std::ranges::stable_sort(known[source], {}, last);
      }
      int64_t before = kNone;
      for (const size_t frame : known[source]) {
        Stretch& stretch = stretches_[source].emplace_back();
        stretch.last = frames.last[frame];
        stretch.is_told = frames.number[frame] != kNone;
        if (frames.boundary_ns[frame] == kNone) continue;
        stretch.first = frames.first[frame] != kNone ? frames.first[frame] : before + 1;
        before = stretch.last;
      }
    }
  }

  // From the last to the first: what is known of each source's frames that end at a read or later.
  void count_packets() {
    struct Ahead {
      size_t left = 0;  // stretches that end before
      int64_t first = INT64_MAX;
      bool is_any_told = false;
    };
    std::vector<Ahead> ahead(stretches_.size());
    for (size_t source = 0; source < ahead.size(); ++source) {
      ahead[source].left = stretches_[source].size();
    }
    const auto& reads = rows_.driver_reads;
    for (size_t i = reads.size(); i-- > 0;) {
      const auto row = static_cast<int64_t>(i);
      const auto source = static_cast<size_t>(reads.source[i]);
      Ahead& own = ahead[source];
      bool completes = false, is_inferred = false;
      while (own.left > 0 && stretches_[source][own.left - 1].last == row) {
        const Stretch& stretch = stretches_[source][--own.left];
        if (stretch.first <= stretch.last) own.first = std::min(own.first, stretch.first);
        (stretch.is_told ? completes : is_inferred) = true;
      }
      own.is_any_told = own.is_any_told || completes;
      if (reads.is_packet[i] == 0) continue;
      Use use = Use::unexplained;
      if (completes) {
        use = Use::frame_completed;
      } else if (own.first <= row) {
        use = Use::packet;
      } else if (is_inferred) {
        use = Use::packet_inferred;
      } else if (!is_bounded_[source]) {
        use = Use::packet_counted;
      } else if (!own.is_any_told) {
        use = Use::packet_left;
      } else if (losses_.touch(reads.ns[i], INT64_MAX)) {
        use = Use::partner_lost;
      } else if (is_earlier(reads.source[i])) {
        use = Use::partner_earlier;
      }
      uses_.count(EventType::packet_received, use);
    }
  }

  const Rows& rows_;
  EventUses& uses_;
  const Losses& losses_;
  std::vector<std::vector<Stretch>> stretches_;  // by source
  std::vector<bool> is_bounded_;                 // by source: its driver tells of whole frames
};

}  // namespace

void count_driver_uses(Context& context) { Counting(context).run(); }

}  // namespace strata
