// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "publishing.hpp"

#include <driver_tracepoints/driver.h>

#include <utility>
#include <workload_rclcpp/measuring_node.hpp>

namespace lidar_pipeline {

namespace {

bool is_heard(const rclcpp::PublisherBase& topic) {
  // Some middlewares do not match endpoints of one process when there is intra-process
  // communication.
  return topic.get_subscription_count() > 0 || topic.get_intra_process_subscription_count() > 0;
}

/// Publishes, and says whether the middleware took it: with iceoryx it refuses what finds no free
/// chunk. On a bare thread an exception would end the process.
template <typename Publisher, typename Message>
bool is_taken(Publisher& topic, Message&& message, Count& refused) {
  try {
    topic.publish(std::forward<Message>(message));
    return true;
  } catch (const rclcpp::exceptions::RCLError& error) {
    if (refused++ == 0) {
      RCLCPP_WARN(rclcpp::get_logger("ouster_driver"),
                  "A message on %s is refused, and lost, as later ones may be: %s",
                  topic.get_topic_name(), error.what());
    }
    return false;
  }
}

}  // namespace

Topics::Topics(rclcpp_lifecycle::LifecycleNode& node, const Settings& settings)
    : node_(node),
      by_pointer_(settings.intra_process || node.get_node_options().use_intra_process_comms()) {
  rclcpp::PublisherOptions options;
  if (settings.intra_process) {
    options.use_intra_process_comm = rclcpp::IntraProcessSetting::Enable;
  }
  const auto make = [&](const char* wanted, auto& topic, const std::string& name) {
    using Publisher = typename std::decay_t<decltype(topic)>::element_type;
    using Message = typename Publisher::ROSMessageType;
    if (settings.proc_mask.count(wanted) != 0) {
      topic = node.create_publisher<Message>(name, settings.qos, options);
      of_scans_.push_back(topic);
    }
  };
  make("PCL", points, "points");
  for (const auto& each : kFields) {
    make("IMG", images.emplace_back(), std::string(each.name) + "_image");
  }
  make("SCAN", scan, "scan");
  make("IMU", imu, "imu");
  if (imu) {
    of_scans_.pop_back();
  }
}

std::size_t Topics::listened() const {
  std::size_t found = 0;
  for (const auto& topic : of_scans_) {
    // By pointer only the graph tells the same of every middleware.
    found += by_pointer_ ? node_.count_subscribers(topic->get_topic_name())
                         : topic->get_subscription_count();
  }
  return found;
}

ScanPublisher::ScanPublisher(const Topics& topics, const Settings& settings,
                             const Metadata& metadata, std::uint64_t source)
    : source_(source), by_reception_(settings.connection.by_reception()) {
  add(topics.points, Cloud(settings, metadata));
  for (std::size_t at = 0; at < kFields.size(); ++at) {
    add(topics.images[at], Picture(settings, kFields[at].field));
  }
  add(topics.scan, Plane(settings, metadata));
}

template <typename Maker>
void ScanPublisher::add(const Topic<typename Maker::Message>& topic, Maker maker) {
  if (!topic) {
    return;
  }
  products_.emplace_back(
      [this, topic, maker = std::move(maker)](const Scan& scan, std::int64_t at_ns, bool ready) {
        if (!is_heard(*topic)) {
          return false;
        }
        auto message = maker.make(scan, at_ns);
        if (!ready) {
          strata_driver_cloud_ready(source_, scan.number, Maker::bytes(*message));
        }
        messages += is_taken(*topic, std::move(message), refused) ? 1 : 0;
        return true;
      });
}

void ScanPublisher::publish(const Scan& scan, std::int64_t closed_ns) {
  const auto at_ns = by_reception_ ? closed_ns : static_cast<std::int64_t>(scan.stamp_ns);
  const std::int64_t before = messages;
  bool ready = false;
  for (const auto& product : products_) {
    ready = product(scan, at_ns, ready) || ready;
  }
  ++scans;
  published += messages > before ? 1 : 0;
  unheard += ready ? 0 : 1;
}

ImuPublisher::ImuPublisher(const Topics& topics, const Settings& settings, std::uint64_t source)
    : topic_(topics.imu),
      message_(settings.imu_frame),
      source_(source),
      by_reception_(settings.connection.by_reception()) {}

void ImuPublisher::publish(const ImuSample& sample, std::uint64_t sequence) {
  strata_driver_frame_boundary(source_, packets_++, 1, 0, sequence, sequence);
  if (topic_ && is_heard(*topic_)) {
    std::optional<std::int64_t> at_ns;
    if (by_reception_) {
      at_ns = workload::epoch_ns();
    }
    is_taken(*topic_, message_.make(sample, at_ns), refused);
  }
}

}  // namespace lidar_pipeline
