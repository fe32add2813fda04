// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "model/driver/frames.hpp"

#include <algorithm>
#include <numeric>
#include <span>
#include <vector>

#include "model/driver/driver.hpp"

namespace strata::driver {
namespace {

// Rows by source, in order of time: a counting sort.
class BySource {
 public:
  template <typename Wanted>
  BySource(const Column<int32_t>& source, size_t sources, Wanted&& wanted)
      : first_(sources + 1, 0) {
    for (size_t row = 0; row < source.size(); ++row) {
      if (wanted(row)) ++first_[static_cast<size_t>(source[row]) + 1];
    }
    std::partial_sum(first_.begin(), first_.end(), first_.begin());
    rows_.resize(first_.back(), 0);
    std::vector<size_t> next(first_.begin(), first_.end() - 1);
    for (size_t row = 0; row < source.size(); ++row) {
      if (wanted(row)) rows_[next[static_cast<size_t>(source[row])]++] = static_cast<uint32_t>(row);
    }
  }

  std::span<uint32_t> of(size_t source) {
    return std::span(rows_.data() + first_[source], first_[source + 1] - first_[source]);
  }
  std::span<const uint32_t> of(size_t source) const {
    return std::span(rows_.data() + first_[source], first_[source + 1] - first_[source]);
  }
  size_t sources() const { return first_.size() - 1; }

 private:
  std::vector<size_t> first_;
  Column<uint32_t> rows_;
};

// Numbers rise with time, but for what came in between.
template <typename Some, typename Numbers>
void sort_by_number(Some&& rows, const Numbers& numbers) {
  const auto number = [&](size_t row) { return numbers[row]; };
  if (!std::ranges::is_sorted(rows, {}, number)) std::ranges::stable_sort(rows, {}, number);
}

// Finds what was read by its number.
class Numbered {
 public:
  Numbered(const DriverReadsRows& reads, size_t sources, bool packets)
      : reads_(reads), rows_(reads.source, sources, [&](size_t row) {
          return (reads.is_packet[row] != 0) == packets;
        }) {
    for (size_t source = 0; source < sources; ++source) {
      sort_by_number(rows_.of(source), reads.number);
    }
  }

  // The first row of a source that has a number; kNone for none.
  int64_t find(int32_t source, int64_t number) const {
    if (number == kNone) return kNone;
    const std::span<const uint32_t> rows = rows_.of(static_cast<size_t>(source));
    const auto found =
        std::ranges::lower_bound(rows, number, {}, [&](size_t row) { return reads_.number[row]; });
    if (found == rows.end() || reads_.number[*found] != number) return kNone;
    return static_cast<int64_t>(*found);
  }

 private:
  const DriverReadsRows& reads_;
  BySource rows_;
};

class Builder {
 public:
  Builder(Rows& rows, const Column<int64_t>& numbers, const Boundaries& boundaries)
      : rows_(rows),
        numbers_(numbers),
        boundaries_(boundaries),
        packets_(rows.driver_reads, rows.driver_sources.size(), true),
        buffers_(rows.driver_reads, rows.driver_sources.size(), false) {
    int64_t next = 0;
    const auto& events = rows.driver_frame_events;
    for (size_t row = 0; row < events.size(); ++row) {
      const bool is_boundary = events.kind[row] == static_cast<uint8_t>(FrameEvent::boundary);
      boundary_.push_back(is_boundary ? next++ : kNone);
    }
  }

  void run() {
    auto& events = rows_.driver_frame_events;
    BySource sources(events.source, rows_.driver_sources.size(), [](size_t) { return true; });
    for (size_t source = 0; source < sources.sources(); ++source) {
      const std::span<uint32_t> own = sources.of(source);
      sort_by_number(own, numbers_);
      const size_t first = rows_.driver_frames.size();
      for (size_t i = 0; i < own.size(); ++i) {
        const bool same = i > 0 && numbers_[own[i]] == numbers_[own[i - 1]];
        add(own[i], same);
      }
      finish(first);
    }
  }

 private:
  void add(size_t event, bool same) {
    auto& frames = rows_.driver_frames;
    auto& events = rows_.driver_frame_events;
    if (!same) {
      frames.add();
      const size_t frame = frames.size() - 1;
      frames.source[frame] = events.source[event];
      frames.number[frame] = numbers_[event];
      frames.publications[frame] = 0;
    }
    const size_t frame = frames.size() - 1;
    events.frame[event] = static_cast<int32_t>(frame);
    switch (static_cast<FrameEvent>(events.kind[event])) {
      case FrameEvent::boundary:
        if (frames.boundary_ns[frame] == kNone) add_boundary(frame, event);
        break;
      case FrameEvent::cloud_ready:
      case FrameEvent::copy_done:
        if (frames.ready_ns[frame] == kNone) frames.ready_ns[frame] = events.ns[event];
        break;
      case FrameEvent::pulled:
        break;
    }
  }

  void add_boundary(size_t frame, size_t event) {
    auto& frames = rows_.driver_frames;
    const auto row = static_cast<size_t>(boundary_[event]);
    const int32_t source = frames.source[frame];
    frames.boundary_ns[frame] = rows_.driver_frame_events.ns[event];
    frames.packets[frame] = boundaries_.packets[row];
    frames.missing[frame] = boundaries_.missing[row];
    frames.first[frame] =
        static_cast<int32_t>(packets_.find(source, boundaries_.first_sequence[row]));
    frames.last[frame] =
        static_cast<int32_t>(packets_.find(source, boundaries_.last_sequence[row]));
  }

  // Of the frames of one source, from `first` on.
  void finish(size_t first) {
    auto& frames = rows_.driver_frames;
    const auto& reads = rows_.driver_reads;
    std::vector<size_t> known;
    for (size_t frame = first; frame < frames.size(); ++frame) {
      if (frames.last[frame] == kNone) {
        frames.last[frame] =
            static_cast<int32_t>(buffers_.find(frames.source[frame], frames.number[frame]));
      }
      frames.first_arrival_ns[frame] = pick(reads.arrival_ns, frames.first[frame]);
      frames.arrival_ns[frame] = pick(reads.arrival_ns, frames.last[frame]);
      frames.read_ns[frame] = pick(reads.ns, frames.last[frame]);
      frames.thread[frame] = static_cast<int32_t>(pick(reads.thread, frames.last[frame]));
      if (frames.last[frame] != kNone) known.push_back(frame);
    }
    // Frames are numbered as they are completed.
    sort_by_number(known, frames.last);
    int64_t before = 0;
    for (const size_t frame : known) {
      const int64_t so_far = pick(reads.dropped_so_far, frames.last[frame]);
      frames.dropped[frame] = so_far - before;
      before = so_far;
    }
  }

  Rows& rows_;
  const Column<int64_t>& numbers_;
  const Boundaries& boundaries_;
  Numbered packets_;
  Numbered buffers_;
  Column<int64_t> boundary_;  // by event: its row in `boundaries`
};

}  // namespace

void find_frames(Rows& rows, const Column<int64_t>& numbers, const Boundaries& boundaries) {
  Builder(rows, numbers, boundaries).run();
}

int64_t add_inferred_frame(Rows& rows, int64_t read) {
  auto& frames = rows.driver_frames;
  const auto& reads = rows.driver_reads;
  const int64_t number = frames.add();
  const auto frame = static_cast<size_t>(number);
  const auto row = static_cast<size_t>(read);
  frames.source[frame] = reads.source[row];
  frames.last[frame] = static_cast<int32_t>(read);
  frames.arrival_ns[frame] = reads.arrival_ns[row];
  frames.read_ns[frame] = reads.ns[row];
  frames.thread[frame] = reads.thread[row];
  frames.publications[frame] = 0;
  return number;
}

}  // namespace strata::driver
