// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "image_subscriber.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <rclcpp_components/register_node_macro.hpp>
#include <utility>
#include <workload_rclcpp/settings.hpp>
#include <workload_rclcpp/summary_process.hpp>

#include "camera_settings.hpp"
#include "serialized_image.hpp"

namespace camera_pipeline {

namespace {

using workload::epoch_ns;
using workload::Error;
using workload::setting;

constexpr std::chrono::milliseconds kPoll{100};

std::string text(double value) {
  std::array<char, 32> out{};
  std::snprintf(out.data(), out.size(), "%g", value);
  return out.data();
}

std::chrono::duration<double> seconds_setting(rclcpp::Node& node, const std::string& name,
                                              double value) {
  return std::chrono::duration<double>(setting(node, name, value, 0));
}

}  // namespace

ImageSubscriber::ImageSubscriber(const rclcpp::NodeOptions& options)
    : MeasuringNode("image_subscriber", options),
      images_(setting(*this, "images", std::int64_t{0}, 0)),
      seconds_(seconds_setting(*this, "seconds", 0.0)),
      quiet_(seconds_setting(*this, "quiet_s", 5.0)),
      discovery_(seconds_setting(*this, "discovery_s", 30.0)),
      raw_(setting(*this, "raw", false)),
      expected_fps_(setting(*this, "expected_fps", 0.0, 0)),
      force_(setting(*this, "force", false)),
      csv_(output(*this, "csv", force_)),
      summary_(output(*this, "summary", force_)),
      began_(std::chrono::steady_clock::now()) {
  subscribe();
  poll_ = create_wall_timer(kPoll, [this] { on_poll(); });
}

void ImageSubscriber::subscribe() {
  using sensor_msgs::msg::CameraInfo;
  using sensor_msgs::msg::Image;
  const auto qos = qos_settings(*this, rclcpp::QoS(10));
  const auto image_topic = setting(*this, "image_topic", std::string("camera/image_raw"));
  const auto info_topic = setting(*this, "info_topic", std::string("camera/camera_info"));
  rclcpp::SubscriptionOptions options;
  options.event_callbacks.incompatible_qos_callback =
      [this](const rclcpp::QOSRequestedIncompatibleQoSInfo& event) {
        incompatible_ =
            " A publisher is there, but its QoS does not fit (last: policy " +
            std::to_string(event.last_policy_kind) +
            "): see the parameters reliability, durability, deadline_ms and liveliness.";
      };
  if (raw_) {
    image_ = create_subscription<Image>(
        image_topic, qos,
        [this](const std::shared_ptr<const rclcpp::SerializedMessage>& message,
               const rclcpp::MessageInfo& info) { on_serialized(message, info); },
        options);
  } else {
    image_ = create_subscription<Image>(
        image_topic, qos,
        [this](const std::shared_ptr<const Image>& message, const rclcpp::MessageInfo& info) {
          on_image(message, info);
        },
        options);
  }
  // More than there may be between two of its callbacks.
  camera_info_ = create_subscription<CameraInfo>(
      info_topic, 1000,
      [this](const std::shared_ptr<const CameraInfo>& message) { on_info(message); });
  RCLCPP_INFO(get_logger(), "Waiting for images on %s", image_->get_topic_name());
}

void ImageSubscriber::on_image(const std::shared_ptr<const sensor_msgs::msg::Image>& message,
                               const rclcpp::MessageInfo& info) {
  Arrival image;
  image.at_ns = epoch_ns();
  image.stamp_ns = workload::stamp_ns(message->header.stamp);
  image.bytes = static_cast<std::int64_t>(message->data.size());
  image.width = message->width;
  image.height = message->height;
  image.step = message->step;
  image.encoding = message->encoding;
  add(std::move(image), info);
}

void ImageSubscriber::on_serialized(const std::shared_ptr<const rclcpp::SerializedMessage>& message,
                                    const rclcpp::MessageInfo& info) {
  const auto at_ns = epoch_ns();
  const auto& raw = message->get_rcl_serialized_message();
  Arrival image = image_header(raw.buffer, raw.buffer_length);
  image.at_ns = at_ns;
  add(std::move(image), info);
}

void ImageSubscriber::on_info(const std::shared_ptr<const sensor_msgs::msg::CameraInfo>& message) {
  // Before, the subscription of images may not have been there.
  if (!ready_ || done()) {
    return;
  }
  Arrival arrival;
  arrival.at_ns = epoch_ns();
  arrival.stamp_ns = workload::stamp_ns(message->header.stamp);
  arrivals_.push_back(std::move(arrival));
}

void ImageSubscriber::add(Arrival&& image, const rclcpp::MessageInfo& info) {
  if (done()) {
    return;
  }
  image.is_image = true;
  const auto number = info.get_rmw_message_info().publication_sequence_number;
  if (number != RMW_MESSAGE_INFO_SEQUENCE_NUMBER_UNSUPPORTED) {
    image.sequence = static_cast<std::int64_t>(number);
    if (!first_) {
      before_first_ = image.sequence - 1 - lost_before(image);
    }
    last_sequence_ = std::max(last_sequence_, image.sequence);
  }
  arrivals_.push_back(std::move(image));
  ++received_;
  last_ = std::chrono::steady_clock::now();
  if (!first_) {
    first_ = last_;
  }
  if (images_ > 0 && counted() >= images_) {
    finish();
  }
}

std::int64_t ImageSubscriber::lost_before(const Arrival& first) const {
  // Only camera_info came so far.
  const auto older = std::count_if(arrivals_.begin(), arrivals_.end(), [&](const Arrival& info) {
    return info.stamp_ns < first.stamp_ns;
  });
  return std::min<std::int64_t>(older, first.sequence - 1);
}

void ImageSubscriber::on_poll() {
  if (!ready_ && image_->get_publisher_count() > 0 && camera_info_->get_publisher_count() > 0) {
    ready_ = create_publisher<sensor_msgs::msg::CameraInfo>(kReadyTopic, 1);
  }
  const auto now = std::chrono::steady_clock::now();
  if (!first_) {
    if (discovery_.count() > 0 && now - began_ > discovery_) {
      finish(nothing_came());
    }
  } else if (seconds_.count() > 0 && now - *first_ >= seconds_) {
    finish();
  } else if ((images_ > 0 || seconds_.count() > 0) && quiet_.count() > 0 && now - last_ >= quiet_) {
    gave_up_ = true;
    if (images_ > 0) {
      RCLCPP_WARN(get_logger(), "No image for %s s: ends with %lld of %lld",
                  text(quiet_.count()).c_str(), static_cast<long long>(counted()),
                  static_cast<long long>(images_));
    }
    finish();
  }
}

std::string ImageSubscriber::nothing_came() const {
  const std::string topic = image_->get_topic_name();
  return "Cannot measure: no image on " + topic + " after " + text(discovery_.count()) + " s (" +
         std::to_string(count_publishers(topic)) + " publishers found)." + incompatible_ +
         " Check that the camera runs, with the same ROS_DOMAIN_ID.";
}

int ImageSubscriber::write_results() {
  workload::SummaryProcess process("camera_pipeline.recorded");
  process.line("node", std::string(get_fully_qualified_name()));
  process.line("topic", std::string(image_->get_topic_name()));
  process.line("expected_fps", text(expected_fps_));
  process.line("csv", csv_);
  process.line("summary", summary_);
  for (const auto& arrival : arrivals_) {
    if (arrival.is_image) {
      process.line("image", arrival.at_ns, arrival.stamp_ns, arrival.sequence, arrival.bytes,
                   arrival.width, arrival.height, arrival.step, arrival.encoding);
    } else {
      process.line("info", arrival.at_ns, arrival.stamp_ns);
    }
  }
  process.line("end", epoch_ns(), std::int64_t{gave_up_});
  return process.finish();
}

}  // namespace camera_pipeline

RCLCPP_COMPONENTS_REGISTER_NODE(camera_pipeline::ImageSubscriber)
