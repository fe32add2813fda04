// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "reading.hpp"

#include <driver_tracepoints/driver.h>

#include <utility>
#include <workload_rclcpp/measuring_node.hpp>

namespace lidar_pipeline {

namespace {

constexpr std::chrono::milliseconds kStop{100};
constexpr std::chrono::milliseconds kPollWait{1000};
constexpr std::size_t kWaitingScans = 2;

}  // namespace

LidarReader::LidarReader(UdpSource& udp, const LidarMode& mode, bool closes_at_once)
    : udp_(udp), assembler_(mode, closes_at_once) {}

std::optional<Scan> LidarReader::read() {
  const auto size = udp_.receive(assembler_.slot(), ScanAssembler::kSlotBytes);
  if (!size) {
    return std::nullopt;
  }
  auto scan = assembler_.accept(*size, udp_.sequence());
  if (scan) {
    strata_driver_frame_boundary(udp_.id(), scan->number, static_cast<std::uint32_t>(scan->packets),
                                 static_cast<std::uint32_t>(scan->missing), scan->first_sequence,
                                 scan->last_sequence);
    ++scans;
    missing_packets += static_cast<std::int64_t>(scan->missing);
    missing_columns += scan->missing_columns();
  }
  return scan;
}

void ImuReader::read() {
  struct {
    ImuSample sample;
    // A longer datagram would be cut to a good one's size.
    std::byte more;
  } packet{};
  if (udp_.receive(&packet, kImuBytes + 1) == kImuBytes) {
    publisher_.publish(packet.sample, udp_.sequence());
  }
}

Parts::Parts(UdpSource& lidar_source, UdpSource& imu_source, const Topics& topics,
             const Settings& settings, const Metadata& metadata)
    : lidar_udp(lidar_source),
      imu_udp(imu_source),
      scans(topics, settings, metadata, lidar_source.id()),
      inertia(topics, settings, imu_source.id()),
      lidar(lidar_source, settings.connection.lidar_mode, settings.closes_at_once),
      imu(imu_source, inertia) {}

ThreadedReading::ThreadedReading(Parts& parts) : parts_(parts) {
  parts_.lidar_udp.wait_at_most(kStop);
  parts_.imu_udp.wait_at_most(kStop);
  threads_.emplace_back([this] { receive(); });
  threads_.emplace_back([this] { publish(); });
  threads_.emplace_back([this] {
    while (running_) {
      parts_.imu.read();
    }
  });
}

ThreadedReading::~ThreadedReading() {
  {
    const std::lock_guard lock(mutex_);
    running_ = false;
  }
  changed_.notify_all();
  for (auto& thread : threads_) {
    thread.join();
  }
}

void ThreadedReading::receive() {
  while (running_) {
    auto scan = parts_.lidar.read();
    if (!scan) {
      continue;
    }
    const auto at_ns = workload::epoch_ns();
    const std::lock_guard lock(mutex_);
    if (waiting_.size() >= kWaitingScans) {
      ++parts_.lidar.dropped_scans;
      continue;
    }
    waiting_.push_back({*std::move(scan), at_ns});
    changed_.notify_all();
  }
}

std::optional<ThreadedReading::Closed> ThreadedReading::next() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return !waiting_.empty() || !running_; });
  if (waiting_.empty()) {
    return std::nullopt;
  }
  auto first = std::move(waiting_.front());
  waiting_.pop_front();
  return first;
}

void ThreadedReading::publish() {
  while (auto closed = next()) {
    parts_.scans.publish(closed->scan, closed->at_ns);
  }
}

PolledReading::PolledReading(
    Parts& parts, const std::function<rclcpp::TimerBase::SharedPtr(std::function<void()>)>& timer)
    : parts_(parts), timer_(timer([this] { tick(); })) {}

PolledReading::~PolledReading() { timer_->cancel(); }

void PolledReading::tick() {
  auto* ready = first_readable(parts_.lidar_udp, parts_.imu_udp, kPollWait);
  if (ready == &parts_.imu_udp) {
    parts_.imu.read();
  } else if (ready != nullptr) {
    if (const auto scan = parts_.lidar.read()) {
      parts_.scans.publish(*scan, workload::epoch_ns());
    }
  }
}

}  // namespace lidar_pipeline
