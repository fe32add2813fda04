// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "model/dds/ways.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace strata::dds {
namespace {

constexpr int64_t kAsynchronousNs = 10'000'000;

}  // namespace

// Sample by sample: each is made of its rows once for all of its messages.
std::vector<Way> Ways::find(std::span<const Message> messages) {
  std::vector<size_t> order(messages.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::stable_sort(order, {}, [&](size_t i) { return sample_of(messages[i]); });
  for (const size_t i : order) learn(messages[i], i);
  std::vector<Way> found(messages.size());
  for (const size_t i : order) found[i] = of(messages[i]);
  return found;
}

int64_t Ways::sample_of(const Message& message) const {
  const int64_t written = pick(writes_.sample, message.write);
  return written != kNone ? written : pick(reads_.sample, message.read);
}

Ways::Came Ways::came(const Message& message) {
  Came came;
  came.sample = sample_of(message);
  const Transmission& transmission = wire_.of(came.sample);
  // Those on the thread that notified the reader; where it did not get all that the process got
  // (several threads of one participant, or a thread of its own for delivery), those of the
  // process.
  const Arrivals on_thread = transmission.on_thread(pick(reads_.notified_thread, message.read));
  const Arrivals in_process = transmission.in_process(message.process);
  const bool own = on_thread.arrived != kNone;
  came.local =
      !own && message.process == message.source && pick(reads_.added_ns, message.read) != kNone;
  if (own && on_thread.arrived >= in_process.arrived) {
    came.arrivals = on_thread;
  } else if (!came.local) {
    came.arrivals = in_process;
  }
  // What has no number with its reader came through shared memory.
  came.direct = pick(reads_.unnumbered, message.read) == 1 && !came.local;
  came.iceoryx = came.direct && message.process != message.source && message.source != kNone &&
                 message.process != kNone && in_process.arrived == kNone &&
                 message.write != kNone &&
                 pick(writes_.serialize_begin_ns, message.write) == kNone &&
                 pick(reads_.added_ns, message.read) != kNone;
  if (!came.direct) came.last_ns = came.arrivals.last_ns;
  if (came.last_ns != kNone) {
    came.send = transmission.last_send_until(came.arrivals.port, came.last_ns);
  }
  return came;
}

void Ways::learn(const Message& message, size_t number) {
  const Came came = this->came(message);
  const int64_t writer = wire_.samples().writer(came.sample);
  if (writer == kNone) return;
  const int64_t first_ns = wire_.of(came.sample).sends().first_send_ns;
  if (first_ns != kNone && first_ns <= pick(writes_.end_ns, message.write)) {
    synchronous_.insert(writer);
  }
  if (message.subscription == kNone || came.last_ns == kNone || came.send == kNone) return;
  // Of one instant, the first of the messages.
  const First own{came.last_ns, number, came.send};
  const auto [first, fresh] = first_.try_emplace({writer, message.subscription}, own);
  const auto key = [](const First& one) { return std::pair(one.arrived_ns, one.message); };
  if (!fresh && key(own) < key(first->second)) first->second = own;
}

int64_t Ways::history_until(const Message& message, const Came& came) {
  const int64_t made_ns = made_later(message);
  return made_ns != kNone ? made_ns : matched_later(message, came);
}

// When the reader was made, of a message that was published before.
int64_t Ways::made_later(const Message& message) const {
  int64_t made_ns = pick(reads_.made_ns, message.read);
  if (made_ns == kNone) made_ns = message.subscribed_ns;
  if (message.subscribed_ns != kNone) made_ns = std::min(made_ns, message.subscribed_ns);
  const int64_t notified_ns = pick(reads_.notified_ns, message.read);
  // One that was notified before it was made known was only named late.
  const bool late =
      made_ns > message.published_ns && notified_ns != kNone && made_ns <= notified_ns;
  return late ? made_ns : kNone;
}

// When the message's reader was first sent anything, if the message was written before.
int64_t Ways::matched_later(const Message& message, const Came& came) {
  const int64_t writer = wire_.samples().writer(came.sample);
  if (writer == kNone || message.subscription == kNone || came.last_ns == kNone) return kNone;
  const auto first = first_.find({writer, message.subscription});
  if (first == first_.end()) return kNone;
  const int64_t since_ns = wire_.call_ns(first->second.call);
  const int64_t written_ns = pick(writes_.end_ns, message.write);
  const int64_t patience = synchronous_.contains(writer) ? 0 : kAsynchronousNs;
  if (written_ns == kNone || elapsed_ns(written_ns, since_ns) <= patience) return kNone;
  if (came.last_ns < since_ns) return kNone;
  return wire_.of(came.sample).sent_before(first->second.call, since_ns) ? kNone : since_ns;
}

Way Ways::of(const Message& message) {
  const Came came = this->came(message);
  Way way{.last_ns = came.last_ns};
  // Whether the reader was there, and whether the sender was held up, two clocks cannot say.
  if (!message.apart) way.since_ns = history_until(message, came);
  Transmission& transmission = wire_.of(came.sample);
  const Sends& sends = transmission.sends();
  const bool late = way.since_ns != kNone;
  const bool arrived = came.last_ns != kNone;
  way.sent_ns = late ? transmission.first_send_since(came.send, way.since_ns) : sends.first_send_ns;
  if (arrived) {
    way.received_ns = late ? came.last_ns : came.arrivals.received_ns;
    if (way.received_ns == kNone) {
      // Nothing came by a first transmission: it was over when its last send returned.
      const int64_t over_ns = std::max(sends.first_sent_ns, sends.first_send_ns);
      way.received_ns = message.apart ? came.last_ns : std::min(over_ns, came.last_ns);
    }
  } else {
    way.received_ns = pick(reads_.added_ns, message.read);
  }
  way.transport = arrived ? came.arrivals.transport : sends.transport;
  if (came.direct) way.sent_ns = way.transport = kNone;
  const bool shared =
      !arrived && !came.local && way.transport == kDataSharing && way.received_ns != kNone;
  if (came.local || (shared && way.received_ns < way.sent_ns)) way.sent_ns = way.received_ns;
  const bool travels = way.sent_ns != kNone && way.received_ns != kNone && !late && !came.local &&
                       !shared && !message.apart;
  if (travels) {
    const int64_t held_ns = transmission.held_up(way.sent_ns, way.received_ns);
    // Calls of two threads may overlap.
    const int64_t most_ns = std::max<int64_t>(elapsed_ns(way.sent_ns, way.received_ns), 0);
    way.held_ns = std::clamp<int64_t>(held_ns, 0, most_ns);
    way.sent_ns += way.held_ns;
  }
  way.fragments = came.local ? 1 : sends.fragments;
  way.recovered = late ? 0 : std::max<int64_t>(came.arrivals.recovered, 0);
  if (came.local) way.transport = kIntraProcess;
  if (came.iceoryx) way.transport = kIceoryx;
  return way;
}

}  // namespace strata::dds
