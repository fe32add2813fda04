// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// What clients and services sent and took, with what their threads did around it.
//
// Where the rmw traces none of it (Jazzy and older), the writes and takes of the DDS hooks on
// topics of services may be steps. Which of them are is known when all events are over
// (dds/calls.hpp): until then each is a step that may not count. So what lies between two steps of
// a thread is asked for by their order then; here is what other events say.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "model/context.hpp"
#include "model/event.hpp"
#include "model/executions.hpp"
#include "model/lifetimes.hpp"
#include "model/steps.hpp"

namespace strata {

enum class StepKind : uint8_t { send_request, take_request, send_response, take_response };
// What told a step: its own event, the identity in the middleware, the order of a thread's work.
enum class StepRule : uint8_t { event, identity, order };

// GUIDs by their number among the bytes: 16, not all zeros; else kNone.
class Guids {
 public:
  explicit Guids(const Interner& bytes) : bytes_(bytes) {}
  int64_t guid(int64_t bytes);

 private:
  const Interner& bytes_;
  std::vector<int8_t> is_guid_;  // by number; -1: not looked at
};

// Where something lies among what a thread did: what has one instant is ordered as it is caused.
struct Position {
  int64_t ns = kNone;
  uint8_t rank = 0;
  int64_t at = kNone;
  auto operator<=>(const Position&) const = default;
};

struct ServiceStep {
  int64_t ns;
  int64_t at;
  int64_t handle = kNone;  // of the rmw object
  int64_t sequence = kNone;
  int64_t stamp = kNone;
  int32_t gid = -1;
  uint32_t thread;
  StepKind kind;
  StepRule told = StepRule::event;
  bool counts = true;
  // Of a request sent: the execution that was open; of one taken: that which began next.
  int64_t execution = kNone;
  int64_t start_ns = kNone;  // of that which began next
  int64_t last_at = kNone;   // of a request sent: the last event of its instant up to it
  // Of a request sent: the write_begin of the sample that the thread added to a history last; of
  // one taken: the execute before.
  int64_t before_ns = kNone;
  int64_t before_at = kNone;
  int64_t named = kNone;     // what the execute names; or the writer of that sample
  int64_t number = kNone;    // of that sample
  int64_t other_at = kNone;  // of a request taken: what else the thread did last
  int64_t other_ns = kNone;
  // Of a response sent.
  int64_t publish = kNone;
  int64_t publish_ns = kNone;

  Position position() const;
};

// A writer or reader on a topic of services.
struct ServiceEnd {
  int64_t process;
  uint32_t thread;
  int64_t ns;
  int64_t at;
  int64_t handle;
  int64_t topic;
  int32_t guid;
  bool writes;
  bool is_of_service;  // else of a client
};

// A step that the DDS hooks may tell.
struct HookedStep {
  uint32_t step;
  uint32_t end;  // row of the ends
  // Events that belong to the nearest step: Event::at, and what they say.
  int64_t related_at = kNone;
  int64_t related_sequence = kNone;
  int64_t sent_at = kNone, sent_number = kNone, sent_stamp = kNone;
  int64_t added_at = kNone, added_number = kNone, added_stamp = kNone;
  int32_t related_guid = -1;
  int32_t by = -1;  // writer of the sample
  int64_t sample = 0;
};

class ServiceSteps {
 public:
  ServiceSteps(Context& context, Executions& executions)
      : context_(context), executions_(executions), guids_(context.strings.bytes) {}

  static constexpr bool wants(EventType type) {
    using enum EventType;
    switch (type) {
      case create_writer:
      case create_reader:
      case rmw_client_init:
      case rclcpp_service_callback_added:
      case rmw_send_request:
      case rmw_take_request:
      case rmw_send_response:
      case rmw_take_response:
      case write_begin:
      case write_related:
      case writer_history_add:
      case send_begin:
      case take_end:
      case take_related:
      case rmw_publish:
        return true;
      default:
        return is_other_work(type);
    }
  }
  void on(const Event& event);
  // What waits for a later event has none.
  void close();

  Column<ServiceStep>& steps() { return steps_; }
  Column<HookedStep>& hooked() { return hooked_; }
  const std::vector<ServiceEnd>& ends() const { return ends_; }
  Guids& guids() { return guids_; }
  // Its rmw traces services and clients.
  bool is_traced(int64_t process) const { return has(traced_, process); }
  // Its hooks say whose call a take is of.
  bool relates_takes(int64_t process) const { return has(relates_takes_, process); }
  bool takes_requests(int64_t process) const { return has(takes_requests_, process); }
  // A step that is none of its events' took a request there.
  void note_request(int64_t process) { set(takes_requests_, static_cast<uint32_t>(process)); }
  // Something was written or taken within the middleware.
  bool has_samples() const { return has_samples_; }
  bool has_relations() const { return has_relations_; }

  // A goal of an action that rclpy announced: its number, and what its thread did last before.
  struct Announcement {
    int64_t process;
    uint32_t thread;
    int64_t goal;
    int64_t ns;
    int64_t at;
    Position work;  // an event of other work; of steps other than by events, see there
  };
  // The callback of such a goal was picked.
  struct GoalPick {
    int64_t process;
    uint32_t thread;
    int64_t goal;
    int64_t ns;
    int64_t at;
    int64_t execution = kNone;
    int64_t start_ns = kNone;
  };
  // A message of an action's feedback was taken; the execution that began next on its thread.
  struct FeedbackTake {
    uint32_t thread;
    int64_t ns;
    int64_t at;
    int64_t execution = kNone;
    int64_t start_ns = kNone;
  };
  const std::vector<FeedbackTake>& feedback() const { return feedback_; }
  const std::vector<Announcement>& announcements() const { return announcements_; }
  const std::vector<GoalPick>& picks() const { return picks_; }

 private:
  struct Write {
    int64_t at = kNone;
    int64_t ns = kNone;
    bool is_of_publication = false;
  };
  struct Added {
    int64_t at = kNone;
    Write write;
    int64_t writer = kNone;
    int64_t number = kNone;
  };
  struct Related {
    int64_t at = kNone;
    int64_t handle = kNone;
    int64_t guid = kNone;
    int64_t sequence = kNone;
  };
  struct State {
    std::vector<uint32_t> taken;       // steps that wait for a callback
    std::vector<uint32_t> picks;       // picks that do
    std::vector<uint32_t> answered;    // responses that wait for a publication
    std::vector<uint32_t> unrelated;   // takes that wait for their relation: one an end
    std::vector<uint32_t> unnumbered;  // writes that wait for their sample: one an end
    std::vector<uint32_t> announced;   // of this instant
    std::vector<uint32_t> requests;    // hooked ones of this instant
    Write write;
    Added added;
    Related related;
    Position work;             // last other work
    int64_t feedback = kNone;  // a take that waits for a callback
    int64_t picked = kNone;
    int64_t empty_at = kNone;  // the last take of no request
    int64_t empty_ns = kNone;
    int64_t publish_ns = kNone;  // first publication of its instant
    int64_t publish = kNone;
  };

  static bool has(const std::vector<bool>& flags, int64_t process) {
    return process >= 0 && static_cast<size_t>(process) < flags.size() &&
           flags[static_cast<size_t>(process)];
  }
  static void set(std::vector<bool>& flags, uint32_t process) {
    if (process >= flags.size()) flags.resize(process + size_t{1}, false);
    flags[process] = true;
  }

  void create(const Event& event, bool writes);
  void add_step(const Event& event, State& state);
  // A take of nothing, or one whose event says something else than 0 or 1.
  void count_empty(const Event& event, int64_t taken);
  uint32_t add(const Event& event, StepKind kind, State& state);
  void add_hooked(const Event& event, State& state, const Living& living, int64_t handle);
  void observe_request(ServiceStep& step, const State& state) const;
  int64_t last_of_instant(const ServiceStep& step) const;
  void observe_take(ServiceStep& step, State& state, const Event& event);
  void relate_write(const Event& event, State& state);
  void relate_take(const Event& event, State& state);
  void name_sample(const Event& event, State& state, bool added, int64_t writer, int64_t number,
                   int64_t stamp);
  void work(const Event& event, State& state);
  bool takes_feedback(const Event& event);
  void pass_instant(const Event& event, State& state);
  void publish(const Event& event, State& state);
  template <typename Replaces>
  void wait(std::vector<uint32_t>& waiting, uint32_t hooked, Replaces replaces);

  Context& context_;
  Executions& executions_;
  Guids guids_;
  Column<ServiceStep> steps_;
  Column<HookedStep> hooked_;
  std::vector<ServiceEnd> ends_;
  Living writers_, readers_;  // rows of ends_; kNone for those of no service
  PerThread<State> states_;
  std::vector<bool> traced_, relates_takes_, takes_requests_;
  bool has_relations_ = false;
  bool has_samples_ = false;
  std::vector<Announcement> announcements_;
  std::vector<GoalPick> picks_;
  std::vector<FeedbackTake> feedback_;
  std::vector<int8_t> is_feedback_;  // by row of the subscriptions; -1: not looked at
};

}  // namespace strata
