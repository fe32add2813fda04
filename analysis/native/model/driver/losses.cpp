// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "model/driver/losses.hpp"

#include <algorithm>
#include <array>
#include <tuple>
#include <vector>

#include "model/differences.hpp"

namespace strata::driver {
namespace {

struct Loss {
  int32_t source = 0;
  LossCause cause{};
  int64_t count = 0;
  int64_t begin_ns = kNone;
  int64_t end_ns = kNone;

  auto order() const { return std::make_tuple(source, cause, begin_ns, end_ns); }
};

// Rows of one source that follow one another without one that lost nothing are one stretch.
class Stretches {
 public:
  Stretches(size_t sources, std::vector<Loss>& found) : open_(sources), found_(found) {}

  void add(const Loss& next) {
    Loss& open = open_[static_cast<size_t>(next.source)];
    if (next.count <= 0 || open.cause != next.cause) close(open);
    if (next.count <= 0) return;
    if (open.count == 0) {
      open = next;
      return;
    }
    open.count = plus(open.count, next.count);
    open.end_ns = next.end_ns;
  }

  void finish() {
    for (Loss& open : open_) close(open);
  }

 private:
  void close(Loss& open) {
    if (open.count == 0) return;
    // Where an arrival is not known the read bounds it, and clocks are set: nothing ends before it
    // began.
    if (open.end_ns != kNone) open.begin_ns = std::min(open.begin_ns, open.end_ns);
    found_.push_back(open);
    open.count = 0;
  }

  std::vector<Loss> open_;  // by source; none where its count is 0
  std::vector<Loss>& found_;
};

class Search {
 public:
  explicit Search(Context& context)
      : rows_(context.rows),
        sources_(rows_.driver_sources.size()),
        published_(sources_, false),
        has_reads_(sources_, false) {
    const auto& frames = rows_.driver_frames;
    for (size_t frame = 0; frame < frames.size(); ++frame) {
      if (frames.publications[frame] > 0) {
        published_[static_cast<size_t>(frames.source[frame])] = true;
      }
    }
  }

  void run(Context& context) {
    find_dropped();
    find_missing();
    find_unpublished();
    std::array<int64_t, 4> counts{};
    for (const Loss& loss : found_) {
      auto& count = counts[static_cast<size_t>(loss.cause)];
      count = plus(count, loss.count);
    }
    context.ledger.add(Finding::driver_packets_dropped, counts[0]);
    context.ledger.add(Finding::driver_buffers_dropped, counts[1]);
    context.ledger.add(Finding::driver_packets_missing, counts[2]);
    context.ledger.add(Finding::driver_frames_unpublished, counts[3]);
    for (size_t source = 0; source < sources_; ++source) {
      if (has_reads_[source] && !published_[source]) {
        context.ledger.add(Finding::driver_sources_unpublished);
      }
    }
    std::ranges::stable_sort(found_, {}, &Loss::order);
    auto& losses = rows_.driver_losses;
    for (const Loss& loss : found_) {
      const auto row = static_cast<size_t>(losses.add());
      losses.source[row] = loss.source;
      losses.cause[row] = static_cast<uint8_t>(loss.cause);
      losses.count[row] = loss.count;
      losses.begin_ns[row] = loss.begin_ns;
      losses.end_ns[row] = loss.end_ns;
    }
  }

 private:
  // When packets arrived, or where that is not known were read; buffers are by their pull.
  int64_t arrival_ns(int64_t read) const {
    if (read == kNone) return kNone;
    const auto& reads = rows_.driver_reads;
    const auto row = static_cast<size_t>(read);
    const bool known = reads.is_packet[row] != 0 && reads.arrival_ns[row] != kNone;
    return known ? reads.arrival_ns[row] : reads.ns[row];
  }

  // Between the arrivals of two packets, or between two pulls.
  void find_dropped() {
    const auto& reads = rows_.driver_reads;
    std::vector<int64_t> before_ns(sources_), dropped(sources_, 0);
    for (size_t source = 0; source < sources_; ++source) {
      before_ns[source] = rows_.driver_sources.begin_ns[source];
    }
    Stretches stretches(sources_, found_);
    for (size_t row = 0; row < reads.size(); ++row) {
      const int32_t number = reads.source[row];
      const auto source = static_cast<size_t>(number);
      has_reads_[source] = true;
      const int64_t known_ns = arrival_ns(static_cast<int64_t>(row));
      const int64_t so_far = reads.dropped_so_far[row];
      const LossCause cause =
          reads.is_packet[row] != 0 ? LossCause::socket_full : LossCause::appsink_full;
      stretches.add({number, cause, so_far - dropped[source], before_ns[source], known_ns});
      dropped[source] = so_far;
      before_ns[source] = known_ns;
    }
    stretches.finish();
  }

  bool is_completed(size_t frame) const {
    const auto& frames = rows_.driver_frames;
    return frames.number[frame] != kNone &&
           (frames.boundary_ns[frame] != kNone || frames.last[frame] != kNone);
  }

  // What of the drops before a frame may be of its own packets is what was left before the frame
  // before and its drops, less what it missed; no more than its drops, and nothing below zero.
  void find_missing() {
    const auto& frames = rows_.driver_frames;
    std::vector<int64_t> left(sources_, 0);
    Stretches stretches(sources_, found_);
    for (size_t frame = 0; frame < frames.size(); ++frame) {
      if (!is_completed(frame) || frames.missing[frame] == kNone) continue;
      const int32_t number = frames.source[frame];
      int64_t& spare = left[static_cast<size_t>(number)];
      const int64_t missing = frames.missing[frame];
      const int64_t dropped = std::max<int64_t>(frames.dropped[frame], 0);
      const int64_t count = std::max<int64_t>(minus(minus(missing, dropped), spare), 0);
      spare = std::clamp<int64_t>(plus(spare, minus(dropped, missing)), 0, dropped);
      const int64_t end_ns = arrival_ns(frames.last[frame]);
      stretches.add({number, LossCause::never_came, count, arrival_ns(frames.first[frame]),
                     end_ns != kNone ? end_ns : frames.boundary_ns[frame]});
    }
    stretches.finish();
  }

  int64_t whole_ns(size_t frame) const {
    const auto& frames = rows_.driver_frames;
    const int64_t boundary_ns = frames.boundary_ns[frame];
    return boundary_ns != kNone ? boundary_ns : frames.read_ns[frame];
  }

  // A source's last frame does not count: the trace ended.
  void find_unpublished() {
    const auto& frames = rows_.driver_frames;
    Stretches stretches(sources_, found_);
    int64_t before = kNone;
    for (size_t frame = 0; frame < frames.size(); ++frame) {
      if (!is_completed(frame)) continue;
      const int64_t last = before;
      before = static_cast<int64_t>(frame);
      if (last == kNone) continue;
      const auto own = static_cast<size_t>(last);
      const int32_t number = frames.source[own];
      if (number != frames.source[frame] || !published_[static_cast<size_t>(number)]) continue;
      const int64_t count = frames.publications[own] == 0 ? 1 : 0;
      stretches.add({number, LossCause::not_published, count, whole_ns(own), whole_ns(frame)});
    }
    stretches.finish();
  }

  Rows& rows_;
  size_t sources_;
  std::vector<bool> published_;  // by source: a message was made of any of its frames
  std::vector<bool> has_reads_;
  std::vector<Loss> found_;
};

}  // namespace

void find_losses(Context& context) { Search(context).run(context); }

}  // namespace strata::driver
