// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <rclcpp/rclcpp.hpp>
#include <string>
#include <vector>

#include "endpoints.hpp"
#include "messages.hpp"
#include "summary.hpp"
#include "truth.hpp"

namespace relay_chain {

/// A connected node makes a publisher here, which the source counts; nothing is ever sent.
inline constexpr const char* kReadyTopic = "/chain_ready";
/// Where losses are counted, the source says here how many messages it sent (as `msgid`).
inline constexpr const char* kLastTopic = "/chain_last";
inline constexpr const char* kSlowTopic = "/slow";
/// How long a node that counts losses waits for more, once the last was sent.
inline constexpr std::chrono::seconds kAfterLast{2};

/// What the nodes of the chain share: QoS, own stamps, busy work, the blocking subscription, and
/// waiting for the neighbours. The parameters are those of the Python nodes (relay_chain/nodes.py);
/// `intra_process` is of C++ only.
///
/// Callbacks are in the node's default group and exclude one another on every executor; a relay's
/// subscription may be in a reentrant one.
class ChainNode : public rclcpp::Node {
 public:
  /// Throws Error when a parameter cannot be used.
  ChainNode(const std::string& name, const rclcpp::NodeOptions& options);
  /// Writes the stamps, where nobody asked for them: in a component container.
  ~ChainNode() override;

  /// Has `act` called when the node has nothing more to do, in one of its callbacks.
  void when_done(std::function<void()> act) { act_ = std::move(act); }
  [[nodiscard]] bool done() const { return done_; }
  /// The sentence that says what went wrong, once done.
  [[nodiscard]] const std::optional<std::string>& problem() const { return problem_; }
  /// Writes stamps and summary, once; returns the files.
  std::vector<std::string> write();

  /// Whether the chain is over when all such nodes are done: sinks and pings.
  [[nodiscard]] virtual bool ends() const { return false; }
  /// Says at the end what this node did; nothing for one of no interest.
  [[nodiscard]] virtual std::optional<std::string> says() const { return std::nullopt; }
  /// Whether a signal that comes now keeps this node from what it was asked for.
  [[nodiscard]] virtual bool cut_short() const { return false; }

 protected:
  /// Says which peers this node has not found; nothing when it has all.
  virtual std::optional<std::string> missing() = 0;
  /// Says that fewer nodes than `peers` are ready; nothing when enough are.
  [[nodiscard]] std::optional<std::string> missing_peers(std::size_t peers) const;
  /// Adds the numbers of this node; false for one that has none.
  virtual bool sum_up(Summary& /*summary*/) const { return false; }
  /// Writes what nobody asked for yet: in a component container. For the destructor of a node that
  /// has a summary, as its base can no longer ask it.
  void write_at_last() noexcept;
  /// Starts, now that this node is connected.
  virtual void begin() {}

  /// Completes this node; only the first call counts.
  void finish(std::optional<std::string> problem = std::nullopt);
  /// Keeps the CPU busy for `work_ms`.
  void work() const;

  TruthLog& truth() { return truth_; }
  [[nodiscard]] std::int64_t payload() const { return payload_; }
  /// Makes endpoints of the chain's type.
  [[nodiscard]] const Endpoints& endpoints() const { return endpoints_of(message_type_); }
  [[nodiscard]] Topic topic(const std::string& name) const { return {name, qos_, intra_process_}; }
  /// Whether messages that do not come are a result, and no fault.
  [[nodiscard]] bool counts_losses() const { return counts_losses_; }
  static rclcpp::QoS last_qos() { return rclcpp::QoS(1).reliable().transient_local(); }

  /// Number of subscriptions that a publisher of this node reaches.
  [[nodiscard]] std::size_t reached(const rclcpp::PublisherBase& publisher) const;
  /// Number of publishers that reach a subscription of this node.
  [[nodiscard]] std::size_t reaching(const rclcpp::SubscriptionBase& subscription) const;

 private:
  void on_poll();
  /// Whether messages go to subscriptions of this process by pointer.
  [[nodiscard]] bool by_pointer() const;

  rclcpp::QoS qos_{10};
  std::int64_t payload_ = 0;
  std::string message_type_;
  bool intra_process_ = false;
  bool counts_losses_ = false;
  std::chrono::nanoseconds work_{};
  std::chrono::nanoseconds discovery_{};
  std::chrono::steady_clock::time_point made_;
  TruthLog truth_;
  std::string summary_file_;

  std::function<void()> act_;
  std::atomic<bool> done_ = false;
  /// Whether an executor called a callback of this node.
  std::atomic<bool> spun_ = false;
  std::optional<std::string> problem_;

  rclcpp::SubscriptionBase::SharedPtr slow_;
  rclcpp::TimerBase::SharedPtr poll_;
  rclcpp::PublisherBase::SharedPtr ready_publisher_;
};

/// A node that sends on `output`, once enough subscriptions are there.
class Sender : public ChainNode {
 protected:
  Sender(const std::string& name, const rclcpp::NodeOptions& options, const std::string& output);

  std::optional<std::string> missing() override;

  [[nodiscard]] Topic output() const { return topic(output_); }
  void set_publisher(rclcpp::PublisherBase::SharedPtr publisher) {
    publisher_ = std::move(publisher);
  }

 private:
  std::size_t listeners_ = 1;
  std::string output_;
  rclcpp::PublisherBase::SharedPtr publisher_;
};

/// A node that sends of itself, once every peer is ready.
class Starter : public Sender {
 protected:
  Starter(const std::string& name, const rclcpp::NodeOptions& options, const std::string& output);

  std::optional<std::string> missing() override;
  /// Publishes a message of that number and stamp.
  void send(std::int64_t number, std::int64_t stamp_ns) const { sending_.send(number, stamp_ns); }
  [[nodiscard]] std::int64_t bytes() const { return sending_.bytes; }
  [[nodiscard]] bool loans() const { return loans_; }

 private:
  std::size_t peers_;
  bool loans_;
  Sending sending_;
};

}  // namespace relay_chain
