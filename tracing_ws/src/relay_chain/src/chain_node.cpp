// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "chain_node.hpp"

#include <array>
#include <cstdio>
#include <thread>
#include <utility>

namespace relay_chain {

namespace {

constexpr std::chrono::milliseconds kPoll{50};

std::chrono::nanoseconds of_ms(double ms) {
  return std::chrono::nanoseconds(static_cast<std::int64_t>(ms * 1e6));
}

/// Writes seconds as people do: without needless digits.
std::string seconds(std::chrono::nanoseconds time) {
  std::array<char, 32> out{};
  std::snprintf(out.data(), out.size(), "%g", std::chrono::duration<double>(time).count());
  return out.data();
}

/// Gives the directory for stamps; empty for none.
std::string log_of_stamps(rclcpp::Node& node) {
  const auto log = setting(node, "log", std::string());
  return setting(node, "stamps", true) ? log : "";
}

}  // namespace

ChainNode::ChainNode(const std::string& name, const rclcpp::NodeOptions& options)
    : Node(name, options),
      made_(std::chrono::steady_clock::now()),
      truth_(get_name(), log_of_stamps(*this), setting(*this, "force", false)) {
  const auto log = get_parameter("log").as_string();
  if (!log.empty()) {
    summary_file_ =
        own_file(log, get_name(), ".json", "a summary", get_parameter("force").as_bool());
  }
  work_ = of_ms(setting(*this, "work_ms", 0.0, 0));
  const auto block = of_ms(setting(*this, "block_ms", 0.0, 0));
  const auto depth = setting(*this, "depth", std::int64_t{10}, 1);
  qos_ = rclcpp::QoS(rclcpp::KeepLast(static_cast<std::size_t>(depth)));
  if (choice(*this, "history", {"keep_last", "keep_all"}) == "keep_all") {
    qos_.keep_all();
  }
  if (choice(*this, "reliability", {"reliable", "best_effort"}) == "best_effort") {
    qos_.best_effort();
  }
  if (choice(*this, "durability", {"volatile", "transient_local"}) == "transient_local") {
    qos_.transient_local();
  }
  intra_process_ = setting(*this, "intra_process", false);
  payload_ = setting(*this, "payload", std::int64_t{1024}, 0);
  message_type_ = message_name(choice(*this, "type", {"unbounded", "fixed"}) == "fixed", payload_);
  counts_losses_ = choice(*this, "losses", {"refuse", "count"}) == "count";
  if (block.count() > 0) {
    slow_ = endpoints_of("Timing").receiving(
        *this, {kSlowTopic, rclcpp::QoS(10)},
        [block](std::int64_t /*started_ns*/, const Arrival& /*arrival*/) {
          std::this_thread::sleep_for(block);
        });
  }
  discovery_ = of_ms(setting(*this, "discovery_s", 30.0, 0) * 1e3);
  poll_ = create_wall_timer(kPoll, [this] { on_poll(); });
}

ChainNode::~ChainNode() { write_at_last(); }

void ChainNode::write_at_last() noexcept {
  // What never ran must leave no files: they would keep the next run from theirs.
  if (!spun_) {
    return;
  }
  try {
    write();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
  }
}

std::vector<std::string> ChainNode::write() {
  std::vector<std::string> files;
  if (auto path = truth_.write()) {
    files.push_back(*std::move(path));
  }
  Summary summary;
  summary.add("node", std::string(get_name()));
  summary.add("type", message_type_);
  if (!summary_file_.empty() && sum_up(summary)) {
    summary.write(summary_file_);
    files.push_back(std::exchange(summary_file_, ""));
  }
  return files;
}

std::optional<std::string> ChainNode::missing_peers(std::size_t peers) const {
  const auto ready = count_publishers(kReadyTopic);
  if (ready >= peers) {
    return std::nullopt;
  }
  return std::to_string(ready) + " of " + std::to_string(peers) + " peers are ready";
}

void ChainNode::finish(std::optional<std::string> problem) {
  if (done_) {
    return;
  }
  problem_ = std::move(problem);
  done_ = true;
  if (act_) {
    act_();
  } else {
    // In a component container nobody else tells.
    std::fprintf(stderr, "%s: %s\n", get_name(), problem_.value_or("done").c_str());
  }
}

void ChainNode::work() const {
  if (work_.count() == 0) {
    return;
  }
  const auto until = std::chrono::steady_clock::now() + work_;
  while (std::chrono::steady_clock::now() < until) {
  }
}

bool ChainNode::by_pointer() const {
  return intra_process_ || get_node_options().use_intra_process_comms();
}

// With intra-process communication some middlewares do not match endpoints of one process, and
// others do: only the graph tells the same of both.
std::size_t ChainNode::reached(const rclcpp::PublisherBase& publisher) const {
  return by_pointer() ? count_subscribers(publisher.get_topic_name())
                      : publisher.get_subscription_count();
}

std::size_t ChainNode::reaching(const rclcpp::SubscriptionBase& subscription) const {
  return by_pointer() ? count_publishers(subscription.get_topic_name())
                      : subscription.get_publisher_count();
}

void ChainNode::on_poll() {
  spun_ = true;
  auto lacks = missing();
  if (!lacks && slow_ && slow_->get_publisher_count() == 0) {
    lacks = std::string("no publisher on ") + kSlowTopic;
  }
  if (!lacks) {
    poll_->cancel();
    poll_.reset();
    ready_publisher_ =
        endpoints_of("Timing").sending(*this, {kReadyTopic, rclcpp::QoS(1)}, 0, false).publisher;
    begin();
  } else if (discovery_.count() > 0 && std::chrono::steady_clock::now() - made_ > discovery_) {
    poll_->cancel();
    finish(std::string("Cannot start ") + get_name() + ": " + *lacks + " after " +
           seconds(discovery_) +
           " s. Check that all nodes run, with the same ROS_DOMAIN_ID and QoS.");
  }
}

Sender::Sender(const std::string& name, const rclcpp::NodeOptions& options,
               const std::string& output)
    : ChainNode(name, options),
      listeners_(static_cast<std::size_t>(setting(*this, "listeners", std::int64_t{1}, 1))),
      output_(setting(*this, "output", output)) {}

std::optional<std::string> Sender::missing() {
  const auto found = reached(*publisher_);
  if (found >= listeners_) {
    return std::nullopt;
  }
  const std::string topic = publisher_->get_topic_name();
  if (found == 0) {
    return "no subscription on " + topic;
  }
  return std::to_string(found) + " of " + std::to_string(listeners_) + " subscriptions on " + topic;
}

Starter::Starter(const std::string& name, const rclcpp::NodeOptions& options,
                 const std::string& output)
    : Sender(name, options, output),
      peers_(static_cast<std::size_t>(setting(*this, "peers", std::int64_t{0}, 0))),
      loans_(setting(*this, "loans", false)),
      sending_(endpoints().sending(*this, this->output(), payload(), loans_)) {
  set_publisher(sending_.publisher);
}

std::optional<std::string> Starter::missing() {
  if (auto lacks = Sender::missing()) {
    return lacks;
  }
  return missing_peers(peers_);
}

}  // namespace relay_chain
