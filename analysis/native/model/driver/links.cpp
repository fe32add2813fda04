// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "model/driver/links.hpp"

#include <algorithm>
#include <numeric>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "model/arrange.hpp"
#include "model/driver/driver.hpp"
#include "model/driver/frames.hpp"
#include "model/intra_process.hpp"
#include "model/lifetimes.hpp"

namespace strata::driver {
namespace {

// A published message that may be of a frame.
struct Message {
  size_t row = 0;        // of the published messages
  size_t candidate = 0;  // row of the candidates
  int64_t at = kNone;
  int64_t ns = kNone;
  int64_t thread = kNone;
  int64_t begin_ns = kNone;
  int64_t execution = kNone;
  int64_t publisher = kNone;
  int64_t handle = kNone;
};

class Linking {
 public:
  Linking(Context& context, const Executions& executions, const Candidates& candidates)
      : context_(context),
        rows_(context.rows),
        executions_(executions),
        candidates_(candidates),
        within_(has_ring_buffers(context.rows)) {
    find_telling();
    const auto& topics = rows_.publishers.topic;
    for (size_t row = 0; row < topics.size(); ++row) {
      const auto topic = topics[row];
      internal_.push_back(topic != kNone &&
                          std::ranges::count(kInternalTopics, context.strings.texts[topic]) > 0);
    }
  }

  void run() {
    link_messages();
    add_frames_of_reads();
    auto& links = rows_.driver_links;
    for (size_t row = 0; row < links.size(); ++row) {
      ++rows_.driver_frames.publications[static_cast<size_t>(links.frame[row])];
    }
    sort_links();
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

  // Published messages after a mark or read, in the order of these events. Of one instant, those
  // that stayed in their process come after the others: they are put in order when it is over.
  void link_messages() {
    if (candidates_.size() == 0) return;
    const size_t published = within_ ? rows_.published_messages.size() : rows_.publishes.size();
    std::vector<Message> instant;
    size_t candidate = 0;
    const auto link_all = [&] {
      std::ranges::stable_sort(instant, {}, &Message::at);
      for (Message& message : instant) {
        while (candidate < candidates_.size() && candidates_.publish_at[candidate] < message.at) {
          ++candidate;
        }
        if (candidate == candidates_.size()) break;
        message.candidate = candidate;
        if (candidates_.publish_at[candidate] == message.at) link(message);
      }
      instant.clear();
    };
    for (size_t row = 0; row < published && candidate < candidates_.size(); ++row) {
      if (!within_ && rows_.publishes.of_application[row] == 0) continue;
      const Message message = message_of(row);
      if (message.at < candidates_.publish_at[0]) continue;
      if (!instant.empty() && instant.back().ns != message.ns) link_all();
      instant.push_back(message);
    }
    link_all();
  }

  void link(const Message& message) {
    if (candidates_.is_read[message.candidate] != 0) {
      by_read(message);
    } else {
      by_frame(message);
    }
  }

  Message message_of(size_t row) const {
    const auto& published = rows_.published_messages;
    const int64_t publish = within_ ? published.publish[row] : static_cast<int64_t>(row);
    const int64_t call = within_ ? published.call[row] : kNone;
    Message message;
    message.row = row;
    if (publish == kNone) {
      const auto& calls = rows_.intra_publishes;
      const auto own = static_cast<size_t>(call);
      message.at = calls.at[own];
      message.ns = calls.ns[own];
      message.thread = calls.thread[own];
      message.begin_ns = calls.ns[own];
      message.execution = calls.execution[own];
      message.publisher = calls.publisher[own];
      message.handle = calls.handle[own];
      return message;
    }
    const auto& publishes = rows_.publishes;
    const auto own = static_cast<size_t>(publish);
    const int64_t client_ns =
        call != kNone ? pick(rows_.intra_publishes.ns, call) : publishes.client_ns[own];
    message.at = publishes.at[own];
    message.ns = publishes.ns[own];
    message.thread = publishes.thread[own];
    message.begin_ns = client_ns != kNone ? client_ns : publishes.ns[own];
    message.execution = publishes.execution[own];
    message.publisher = publishes.publisher[own];
    message.handle = publishes.rmw_handle[own];
    return message;
  }

  void by_frame(const Message& message) {
    const auto& events = rows_.driver_frame_events;
    const auto event = static_cast<size_t>(candidates_.row[message.candidate]);
    const int64_t frame = events.frame[event];
    if (static_cast<FrameEvent>(events.kind[event]) == FrameEvent::boundary) {
      // Where a source has other marks, a frame without was given up, or not published yet.
      const bool alone = pick(rows_.driver_frames.packets, frame) == 1 &&
                         !marking_[static_cast<size_t>(events.source[event])];
      if (!alone) return;
    }
    if (is_near(message) && is_known(message)) add(message, frame, false);
  }

  void by_read(const Message& message) {
    const auto read = static_cast<size_t>(candidates_.row[message.candidate]);
    if (telling_thread_[static_cast<size_t>(rows_.driver_reads.thread[read])]) return;
    const bool is_first = is_first_of_topic(message);
    if (!is_near(message) || (message.execution == kNone && !is_first)) return;
    if (is_known(message)) add(message, static_cast<int64_t>(read), true);
  }

  // Whether a thread published nothing else on that topic since the read.
  bool is_first_of_topic(const Message& message) {
    auto& [read, topics] = since_read_[message.thread];
    if (read != candidates_.row[message.candidate]) {
      read = candidates_.row[message.candidate];
      topics.clear();
    }
    // A publisher that is not known has no topic: its handle tells it apart.
    const int64_t handle = message.publisher == kNone ? message.handle : 0;
    return topics.insert({pick(rows_.publishers.topic, message.publisher), handle}).second;
  }

  bool is_near(const Message& message) const {
    if (message.publisher != kNone && internal_[static_cast<size_t>(message.publisher)]) {
      return false;
    }
    const size_t row = message.candidate;
    if (candidates_.ns[row] > message.begin_ns) return false;
    return executions_.enclosing(candidates_.open_execution[row], candidates_.at[row],
                                 candidates_.ns[row]) == message.execution;
  }

  bool is_known(const Message& message) {
    const bool lost =
        context_.settings.losses.touch(candidates_.ns[message.candidate], message.begin_ns);
    if (lost) ++doubtful_;
    return !lost;
  }

  void add(const Message& message, int64_t frame, bool is_inferred) {
    auto& links = rows_.driver_links;
    const auto row = static_cast<size_t>(links.add());
    if (is_inferred) inferred_.push_back(row);
    links.published[row] = static_cast<int32_t>(message.row);
    links.frame[row] = static_cast<int32_t>(frame);
    links.is_inferred[row] = is_inferred ? 1 : 0;
    execution_.push_back(message.execution);
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
    for (const size_t link : inferred_)
      links.frame[link] = static_cast<int32_t>(frame_of[links.frame[link]]);
  }

  // In the order of messages.
  void sort_links() {
    auto& links = rows_.driver_links;
    bool is_sorted = true;
    for (size_t row = 1; row < links.size() && is_sorted; ++row) {
      is_sorted = links.published[row - 1] <= links.published[row];
    }
    if (is_sorted) return;
    std::vector<size_t> order(links.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::ranges::sort(order, {}, [&](size_t row) { return links.published[row]; });
    arrange(links, order);
    Column<int64_t> execution;
    for (const size_t row : order) execution.push_back(execution_[row]);
    execution_ = std::move(execution);
  }

  // An execution of a subscription's callback was started by a message, and so was one of a
  // callback that is not known but that a take started.
  void find_caused() {
    auto& links = rows_.driver_links;
    const auto& executions = rows_.executions;
    if (links.size() == 0) return;
    Column<uint8_t> started;  // by execution
    started.resize(executions.size(), 0);
    bool all = true;
    for (size_t link = 0; link < links.size(); ++link) {
      const int64_t execution = execution_[link];
      if (execution == kNone) continue;
      const int64_t callback = pick(executions.callback, execution);
      const bool of_subscription = pick(rows_.callbacks.subscription, callback) != kNone;
      started[static_cast<size_t>(execution)] = of_subscription ? 1 : 0;
      all = all && of_subscription;
    }
    const auto take = [&](const auto& taken) {
      for (size_t row = 0; row < taken.size() && !all; ++row) {
        if (taken[row] != kNone) started[static_cast<size_t>(taken[row])] = 1;
      }
    };
    take(rows_.takes.execution);
    take(rows_.dequeues.execution);
    for (size_t link = 0; link < links.size(); ++link) {
      links.is_caused[link] = pick(started, execution_[link]) == 1 ? 1 : 0;
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
  const bool within_;                 // messages have rows of their own
  std::vector<bool> internal_;        // by publisher
  std::vector<bool> telling_;         // by source: its driver tells of frames, or is named
  std::vector<bool> marking_;         // by source: it has cloud_ready or copy_done
  std::vector<bool> telling_thread_;  // by thread
  std::unordered_map<int64_t, Topics> since_read_;  // by thread
  std::vector<size_t> inferred_;                    // links
  Column<int64_t> execution_;                       // by link: that its message was published in
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
