// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf_node.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <rclcpp_components/register_node_macro.hpp>
#include <sensor_msgs/msg/image.hpp>
#include <sensor_msgs/msg/imu.hpp>
#include <sensor_msgs/msg/laser_scan.hpp>
#include <sensor_msgs/msg/point_cloud2.hpp>
#include <type_traits>
#include <workload_rclcpp/settings.hpp>
#include <workload_rclcpp/summary_process.hpp>

namespace lidar_pipeline {

namespace {

using workload::epoch_ns;
using workload::Error;
using workload::setting;

constexpr std::chrono::milliseconds kWatch{500};
/// Of the stamp in a message's CDR: a header is its first field, after the encapsulation.
constexpr std::size_t kStampAt = 4;

bool ends_with(const std::string& text, const std::string& end) {
  return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

std::string csv_name(std::string topic) {
  topic.erase(0, topic.find_first_not_of('/'));
  std::replace(topic.begin(), topic.end(), '/', '_');
  return "perf_" + topic + ".csv";
}

/// As lidar_pipeline/perf/results.py names it.
std::string columns_name(const std::filesystem::path& samples) {
  return samples.parent_path() / (samples.stem().string() + "_columns.csv");
}

}  // namespace

PerfNode::PerfNode(const rclcpp::NodeOptions& options)
    : MeasuringNode("perf_node", options),
      warm_up_(setting(*this, "warm_up", std::int64_t{0}, 0)),
      wanted_(setting(*this, "n_samples", std::int64_t{1000}, 1) + warm_up_),
      quiet_(static_cast<std::int64_t>(setting(*this, "quiet_s", 5.0, 0) * 1e9)),
      counts_losses_(workload::choice(*this, "losses", {"refuse", "count"}) == "count"),
      serialized_(setting(*this, "serialized", false)),
      intra_process_(setting(*this, "intra_process", false)),
      force_(setting(*this, "force", false)),
      out_file_(setting(*this, "out_file", std::string())),
      log_(setting(*this, "log", std::string())) {
  if (serialized_ && (intra_process_ || options.use_intra_process_comms())) {
    throw Error(
        "Cannot use parameter serialized: with intra-process communication nothing is serialized.");
  }
  const auto topics = declare_parameter("topics", std::vector<std::string>{"/points"});
  const auto step = setting(*this, "column_step", std::int64_t{64}, 0);
  const bool system = setting(*this, "use_system_default_qos", false);
  const rclcpp::QoS qos =
      system ? rclcpp::QoS(rclcpp::SystemDefaultsQoS()) : rclcpp::QoS(rclcpp::SensorDataQoS());
  for (const auto& topic : topics) {
    samples_.push_back({topic, {}, ColumnTimes(step)});
    // No allocation of a growing table between two messages.
    samples_.back().rows.reserve(static_cast<std::size_t>(wanted_));
    samples_.back().columns.reserve(static_cast<std::size_t>(wanted_));
  }
  refuse_to_replace();
  // Callbacks keep references, so only now that nothing moves any more.
  for (auto& samples : samples_) {
    subscriptions_.push_back(subscribe(samples, qos));
  }
  watch_ = create_wall_timer(kWatch, [this] { on_watch(); });
}

void PerfNode::refuse_to_replace() const {
  std::vector<std::string> files;
  if (!out_file_.empty()) {
    files.push_back(out_file_);
    files.push_back(columns_name(out_file_));
  }
  if (!log_.empty()) {
    for (const auto& samples : samples_) {
      files.push_back((std::filesystem::path(log_) / csv_name(samples.topic)).string());
      files.push_back(columns_name(files.back()));
    }
    files.push_back((std::filesystem::path(log_) / "perf.json").string());
  }
  for (const auto& file : files) {
    if (!force_ && std::filesystem::exists(file)) {
      throw Error("Cannot write samples to " + file + ": it is there already.");
    }
  }
}

rclcpp::SubscriptionBase::SharedPtr PerfNode::subscribe(Samples& samples, const rclcpp::QoS& qos) {
  if (ends_with(samples.topic, "_image") || ends_with(samples.topic, "image_raw")) {
    return subscribe<sensor_msgs::msg::Image>(samples, qos);
  }
  if (ends_with(samples.topic, "scan")) {
    return subscribe<sensor_msgs::msg::LaserScan>(samples, qos);
  }
  if (ends_with(samples.topic, "imu")) {
    return subscribe<sensor_msgs::msg::Imu>(samples, qos);
  }
  return subscribe<sensor_msgs::msg::PointCloud2>(samples, qos);
}

template <typename Message>
rclcpp::SubscriptionBase::SharedPtr PerfNode::subscribe(Samples& samples, const rclcpp::QoS& qos) {
  rclcpp::SubscriptionOptions options;
  if (intra_process_) {
    options.use_intra_process_comm = rclcpp::IntraProcessSetting::Enable;
  }
  if (serialized_) {
    return create_subscription<Message>(
        samples.topic, qos,
        [this, &samples](const std::shared_ptr<const rclcpp::SerializedMessage>& message,
                         const rclcpp::MessageInfo& info) {
          const auto at_ns = epoch_ns();
          const auto& raw = message->get_rcl_serialized_message();
          std::int32_t seconds = 0;
          std::uint32_t rest = 0;
          std::memcpy(&seconds, raw.buffer + kStampAt, sizeof seconds);
          std::memcpy(&rest, raw.buffer + kStampAt + sizeof seconds, sizeof rest);
          take(samples, at_ns, seconds * workload::kSecondNs + rest, info);
        },
        options);
  }
  return create_subscription<Message>(
      samples.topic, qos,
      [this, &samples](const std::shared_ptr<const Message>& message,
                       const rclcpp::MessageInfo& info) {
        const auto at_ns = epoch_ns();
        if constexpr (std::is_same_v<Message, sensor_msgs::msg::PointCloud2>) {
          if (!complete(samples)) {
            samples.columns.take(static_cast<std::int64_t>(samples.rows.size()), *message);
          }
        }
        take(samples, at_ns, workload::stamp_ns(message->header.stamp), info);
      },
      options);
}

void PerfNode::take(Samples& samples, std::int64_t received_ns, std::int64_t stamp_ns,
                    const rclcpp::MessageInfo& info) {
  last_ = std::chrono::steady_clock::now();
  if (complete(samples)) {
    return;
  }
  const auto& told = info.get_rmw_message_info();
  const auto number = told.publication_sequence_number;
  // By pointer rclcpp leaves the number unset.
  const bool known =
      !told.from_intra_process && number != RMW_MESSAGE_INFO_SEQUENCE_NUMBER_UNSUPPORTED;
  samples.rows.push_back({received_ns, stamp_ns, known ? static_cast<std::int64_t>(number) : 0});
  const auto is_complete = [this](const Samples& each) { return complete(each); };
  if (std::all_of(samples_.begin(), samples_.end(), is_complete)) {
    finish(std::nullopt);
  }
}

bool PerfNode::complete(const Samples& samples) const {
  return static_cast<std::int64_t>(samples.rows.size()) >= wanted_;
}

void PerfNode::on_watch() {
  if (quiet_.count() == 0 || !last_ || std::chrono::steady_clock::now() - *last_ <= quiet_) {
    return;
  }
  std::size_t came = samples_.front().rows.size();
  for (const auto& samples : samples_) {
    came = std::min(came, samples.rows.size());
  }
  std::array<char, 32> seconds{};
  std::snprintf(seconds.data(), seconds.size(), "%g",
                std::chrono::duration<double>(quiet_).count());
  const auto problem = "Cannot take all samples: " + std::to_string(came) +
                       " came, then none for " + seconds.data() + " s.";
  if (counts_losses_) {
    RCLCPP_WARN(get_logger(), "%s", problem.c_str());
    finish();
  } else {
    finish(problem);
  }
}

int PerfNode::write_results() {
  workload::SummaryProcess summary("lidar_pipeline.perf.recorded");
  summary.line("warm_up", warm_up_);
  summary.line("out_file", out_file_);
  summary.line("log", log_);
  for (const auto& samples : samples_) {
    summary.line("topic", samples.topic);
    for (const auto& row : samples.rows) {
      summary.line("sample", row.received_ns, row.stamp_ns, row.sequence);
    }
    for (const auto& row : samples.columns.rows()) {
      summary.line("column", row.scan, row.column, row.time_ns);
    }
  }
  return summary.finish();
}

}  // namespace lidar_pipeline

RCLCPP_COMPONENTS_REGISTER_NODE(lidar_pipeline::PerfNode)
