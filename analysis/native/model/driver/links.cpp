// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "model/driver/links.hpp"

#include <algorithm>
#include <tuple>
#include <unordered_map>
#include <unordered_set>

#include "model/driver/driver.hpp"
#include "model/driver/frames.hpp"
#include "model/lifetimes.hpp"

namespace strata::driver {
namespace {

class Linking {
 public:
  Linking(Context& context, const Executions& executions, const Candidates& candidates)
      : context_(context), rows_(context.rows), executions_(executions), candidates_(candidates) {
    find_telling();
    const auto& topics = rows_.publishers.topic;
    for (size_t row = 0; row < topics.size(); ++row) {
      const auto topic = topics[row];
      internal_.push_back(topic != kNone &&
                          std::ranges::count(kInternalTopics, context.strings.texts[topic]) > 0);
    }
  }

  void run() {
    const auto& publishes = rows_.publishes;
    size_t publish = 0;
    for (size_t row = 0; row < candidates_.size(); ++row) {
      const int64_t at = candidates_.publish_at[row];
      while (publish < publishes.size() && publishes.at[publish] < at) ++publish;
      if (publish == publishes.size()) break;
      if (publishes.at[publish] != at || publishes.of_application[publish] == 0) continue;
      if (candidates_.is_read[row] != 0) {
        by_read(row, publish);
      } else {
        by_frame(row, publish);
      }
    }
    add_frames_of_reads();
    auto& links = rows_.driver_links;
    for (size_t row = 0; row < links.size(); ++row) {
      ++rows_.driver_frames.publications[static_cast<size_t>(links.frame[row])];
    }
    find_caused();
    context_.ledger.add(Finding::driver_links_inferred, static_cast<int64_t>(inferred_.size()));
    context_.ledger.add(Finding::driver_links_with_losses, doubtful_);
  }

 private:
  // Sources and threads of drivers that tell of frames.
  void find_telling() {
    const auto& sources = rows_.driver_sources;
    const auto& reads = rows_.driver_reads;
    const auto& events = rows_.driver_frame_events;
    telling_.assign(sources.size(), false);
    marking_.assign(sources.size(), false);
    telling_thread_.assign(rows_.threads.size(), false);
    for (size_t row = 0; row < sources.size(); ++row) {
      const int64_t name = sources.name[row];
      const bool named = name != kNone && !context_.strings.texts[name].empty();
      telling_[row] = named || sources.tells_frames[row] != 0;
    }
    for (size_t row = 0; row < events.size(); ++row) {
      const auto kind = static_cast<FrameEvent>(events.kind[row]);
      if (kind == FrameEvent::pulled) continue;
      telling_thread_[static_cast<size_t>(events.thread[row])] = true;
      if (kind != FrameEvent::boundary) marking_[static_cast<size_t>(events.source[row])] = true;
    }
    for (size_t row = 0; row < reads.size(); ++row) {
      if (telling_[static_cast<size_t>(reads.source[row])]) {
        telling_thread_[static_cast<size_t>(reads.thread[row])] = true;
      }
    }
  }

  void by_frame(size_t row, size_t publish) {
    const auto& events = rows_.driver_frame_events;
    const auto event = static_cast<size_t>(candidates_.row[row]);
    const int64_t frame = events.frame[event];
    if (static_cast<FrameEvent>(events.kind[event]) == FrameEvent::boundary) {
      // Where a source has other marks, a frame without was given up, or not published yet.
      const bool alone = pick(rows_.driver_frames.packets, frame) == 1 &&
                         !marking_[static_cast<size_t>(events.source[event])];
      if (!alone) return;
    }
    if (is_near(row, publish) && is_known(row, publish)) add(publish, frame, false);
  }

  void by_read(size_t row, size_t publish) {
    const auto read = static_cast<size_t>(candidates_.row[row]);
    if (telling_thread_[static_cast<size_t>(rows_.driver_reads.thread[read])]) return;
    const bool is_first = is_first_of_topic(row, publish);
    if (!is_near(row, publish)) return;
    if (rows_.publishes.execution[publish] == kNone && !is_first) return;
    if (!is_known(row, publish)) return;
    inferred_.push_back(rows_.driver_links.size());
    add(publish, static_cast<int64_t>(read), true);
  }

  // Whether a thread published nothing else on that topic since the read.
  bool is_first_of_topic(size_t row, size_t publish) {
    const auto& publishes = rows_.publishes;
    auto& [read, topics] = since_read_[publishes.thread[publish]];
    if (read != candidates_.row[row]) {
      read = candidates_.row[row];
      topics.clear();
    }
    const int64_t publisher = publishes.publisher[publish];
    // A publisher that is not known has no topic: its handle tells it apart.
    return topics
        .insert({pick(rows_.publishers.topic, publisher),
                 publisher == kNone ? publishes.rmw_handle[publish] : 0})
        .second;
  }

  bool is_near(size_t row, size_t publish) const {
    const auto& publishes = rows_.publishes;
    const int64_t publisher = publishes.publisher[publish];
    if (publisher != kNone && internal_[static_cast<size_t>(publisher)]) return false;
    if (candidates_.ns[row] > begin_ns(publish)) return false;
    return executions_.enclosing(candidates_.open_execution[row], candidates_.at[row],
                                 candidates_.ns[row]) == publishes.execution[publish];
  }

  bool is_known(size_t row, size_t publish) {
    const bool lost = context_.settings.losses.touch(candidates_.ns[row], begin_ns(publish));
    if (lost) ++doubtful_;
    return !lost;
  }

  int64_t begin_ns(size_t publish) const {
    const int64_t client_ns = rows_.publishes.client_ns[publish];
    return client_ns != kNone ? client_ns : rows_.publishes.ns[publish];
  }

  void add(size_t publish, int64_t frame, bool is_inferred) {
    auto& links = rows_.driver_links;
    const auto row = static_cast<size_t>(links.add());
    links.publish[row] = static_cast<int64_t>(publish);
    links.frame[row] = frame;
    links.is_inferred[row] = is_inferred ? 1 : 0;
  }

  // Links of reads get the frame that the read is; where it is none, one without a number.
  void add_frames_of_reads() {
    if (inferred_.empty()) return;
    auto& links = rows_.driver_links;
    const auto& frames = rows_.driver_frames;
    std::unordered_map<int64_t, int64_t> frame_of;
    for (const size_t link : inferred_) frame_of.try_emplace(links.frame[link], kNone);
    for (size_t frame = 0; frame < frames.size(); ++frame) {
      if (frames.number[frame] == kNone || frames.last[frame] == kNone) continue;
      const auto known = frame_of.find(frames.last[frame]);
      if (known != frame_of.end()) known->second = static_cast<int64_t>(frame);
    }
    std::vector<int64_t> alone;
    for (const auto& [read, frame] : frame_of) {
      if (frame == kNone) alone.push_back(read);
    }
    std::ranges::sort(alone, {}, [&](int64_t read) {
      return std::make_tuple(rows_.driver_reads.source[static_cast<size_t>(read)], read);
    });
    for (const int64_t read : alone) frame_of[read] = add_inferred_frame(rows_, read);
    for (const size_t link : inferred_) links.frame[link] = frame_of[links.frame[link]];
  }

  // An execution of a subscription's callback was started by a message, and so was one of a
  // callback that is not known but that a take started.
  void find_caused() {
    auto& links = rows_.driver_links;
    const auto& executions = rows_.executions;
    const auto execution_of = [&](size_t link) {
      return pick(rows_.publishes.execution, links.publish[link]);
    };
    std::unordered_map<int64_t, bool> started;
    bool all = true;
    for (size_t link = 0; link < links.size(); ++link) {
      const int64_t execution = execution_of(link);
      if (execution == kNone) continue;
      const int64_t callback = pick(executions.callback, execution);
      const bool of_subscription = pick(rows_.callbacks.subscription, callback) != kNone;
      started[execution] = of_subscription;
      all = all && of_subscription;
    }
    const auto& taken = rows_.takes.execution;
    for (size_t row = 0; row < taken.size() && !all; ++row) {
      const auto known = started.find(taken[row]);
      if (known != started.end()) known->second = true;
    }
    for (size_t link = 0; link < links.size(); ++link) {
      const auto known = started.find(execution_of(link));
      links.is_caused[link] = known != started.end() && known->second ? 1 : 0;
    }
  }

  struct Topics {
    int64_t read = kNone;
    std::unordered_set<HandleKey, HandleHash> keys;
  };

  Context& context_;
  Rows& rows_;
  const Executions& executions_;
  const Candidates& candidates_;
  std::vector<bool> internal_;        // by publisher
  std::vector<bool> telling_;         // by source: its driver tells of frames, or is named
  std::vector<bool> marking_;         // by source: it has cloud_ready or copy_done
  std::vector<bool> telling_thread_;  // by thread
  std::unordered_map<int64_t, Topics> since_read_;  // by thread
  std::vector<size_t> inferred_;                    // links
  int64_t doubtful_ = 0;
};

}  // namespace

void Candidates::add(int64_t publish, const Mark& mark) {
  publish_at.push_back(publish);
  row.push_back(mark.row);
  at.push_back(mark.at);
  ns.push_back(mark.ns);
  open_execution.push_back(mark.open_execution);
  is_read.push_back(mark.is_read ? 1 : 0);
}

void link_publications(Context& context, const Executions& executions,
                       const Candidates& candidates) {
  Linking(context, executions, candidates).run();
}

}  // namespace strata::driver
