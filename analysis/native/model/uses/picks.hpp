// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// What executors picked: whose handle it was, and what the thread took or called next.
#pragma once

#include <array>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "model/context.hpp"
#include "model/entities.hpp"
#include "model/event.hpp"

namespace strata {

// An execute that its thread has not followed up yet.
struct OpenPick {
  bool is_open = false;
  bool has_next = false;  // any event of `ros2`
  bool is_lost = false;   // events were, until that one
  bool is_repeated = false;
  bool has_loan = false;
  uint32_t process = 0;
  uint32_t made = 0;  // init events of the process until then
  int64_t handle = kNone;
  int64_t subscription = kNone;
  int64_t ns = 0;
  int64_t at = 0;
};

class Picks {
 public:
  Picks(Context& context, const Entities& entities) : context_(context), entities_(entities) {}

  void on_init(const Event& event) {
    if (event.process >= made_.size()) made_.resize(event.process + size_t{1}, 0);
    ++made_[event.process];
    if (event.type != EventType::rcl_timer_init) return;
    timers_.begin(event.process, event[field::rcl_timer_init::timer_handle],
                  static_cast<int64_t>(picked_timers_.size()));
    picked_timers_.push_back(false);
  }
  void begin(const Event& event, OpenPick& pick);
  // Which timers were picked, by their init events.
  const std::vector<bool>& picked_timers() const { return picked_timers_; }
  // What a thread does after it picked; `begun` is the execution that a callback_start begins.
  void follow(const Event& event, OpenPick& pick, int64_t begun);
  // No event of the thread comes after.
  void end(OpenPick& pick);
  void finish();

 private:
  // What a pick's use is decided by. Of one process, handle and entities all have one use.
  struct Key {
    uint32_t process;
    uint32_t made;       // init events until it was picked
    uint32_t made_next;  // and until what followed
    EventType next;      // other: nothing
    uint8_t flags;
    int64_t handle;
    int64_t value;  // a handle, or the address of a callback
    bool operator==(const Key&) const = default;
  };
  struct Hash {
    size_t operator()(const Key& key) const {
      uint64_t hash = static_cast<uint64_t>(key.handle) * 0x9e3779b97f4a7c15U;
      hash ^= hash >> 29U;
      hash = (hash ^ static_cast<uint64_t>(key.value)) * 0x9e3779b97f4a7c15U;
      hash ^= hash >> 29U;
      hash ^= static_cast<uint64_t>(key.process) << 40U ^ static_cast<uint64_t>(key.made) << 20U ^
              static_cast<uint64_t>(key.made_next) ^ static_cast<uint64_t>(key.next) << 8U ^
              key.flags;
      hash *= 0x9e3779b97f4a7c15U;
      return hash ^ hash >> 32U;
    }
  };
  struct Picked {
    uint64_t events = 0;
    int64_t ns = 0;
    int64_t subscription = kNone;
    int64_t execution = kNone;
  };
  // One after which a message may have been borrowed.
  struct Lent {
    Key key;
    Picked picked;
    uint32_t thread;
    int64_t at;
    int64_t until_at;
  };
  // Rows of what had the handle.
  struct Named {
    int64_t timer;
    int64_t service;
    int64_t client;
  };
  enum Flag : uint8_t { kLost = 1, kRepeated = 2, kLostBefore = 4, kLostBeforeNext = 8 };

  void close(const Event* event, OpenPick& pick, int64_t begun);
  void find_services();
  void find_clients();
  int64_t service_of_callback(int64_t callback);
  Named named(const Key& key, const Picked& picked) const;
  Use use_of(const Key& key, const Picked& picked, bool is_lent);
  bool started(const Key& key, const Picked& picked, const Named& of, bool of_service);
  uint32_t made(uint32_t process) const { return process < made_.size() ? made_[process] : 0; }

  Context& context_;
  const Entities& entities_;
  std::vector<uint32_t> made_;  // by process
  std::unordered_map<Key, Picked, Hash> picked_;
  std::vector<Lent> lent_;
  Living timers_;
  std::vector<bool> picked_timers_;
  // Handles that were picked last.
  struct Recent {
    uint32_t process = UINT32_MAX;
    uint32_t made = 0;
    int64_t handle = kNone;
    bool operator==(const Recent&) const = default;
  };
  std::array<Recent, 256> recent_;

  // From finish() on.
  Lifetimes service_lives_;
  std::vector<int64_t> service_rmw_;
  Lifetimes client_lives_;
  std::vector<int64_t> client_rmw_;
  Lifetimes service_links_;
  std::vector<int64_t> service_of_link_;
  std::unordered_map<int64_t, int64_t> service_of_callback_;
};

}  // namespace strata
