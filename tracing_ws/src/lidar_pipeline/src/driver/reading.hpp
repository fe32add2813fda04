// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
// Reads the sockets: by threads that wait for packets, or by a timer, one packet a tick.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "publishing.hpp"
#include "udp_source.hpp"

namespace lidar_pipeline {

/// Receives lidar packets into scans, and tells of each that is complete.
class LidarReader {
 public:
  LidarReader(UdpSource& udp, const LidarMode& mode, bool closes_at_once);

  /// Receives one packet; gives the scan that it closed.
  std::optional<Scan> read();
  [[nodiscard]] const AssemblyCounts& packets() const { return assembler_.counts; }

  Count scans{0};
  Count dropped_scans{0};
  Count missing_packets{0};
  Count missing_columns{0};

 private:
  UdpSource& udp_;
  ScanAssembler assembler_;
};

/// Receives IMU packets and publishes each.
class ImuReader {
 public:
  ImuReader(UdpSource& udp, ImuPublisher& publisher) : udp_(udp), publisher_(publisher) {}

  /// Receives one packet.
  void read();

 private:
  UdpSource& udp_;
  ImuPublisher& publisher_;
};

/// What reads and publishes; it counts on from one activation of the driver to the next.
struct Parts {
  Parts(UdpSource& lidar_udp, UdpSource& imu_udp, const Topics& topics, const Settings& settings,
        const Metadata& metadata);

  UdpSource& lidar_udp;
  UdpSource& imu_udp;
  ScanPublisher scans;
  ImuPublisher inertia;
  LidarReader lidar;
  ImuReader imu;
};

/// From one activation of the driver to its end. The destructor ends it.
class Reading {
 public:
  virtual ~Reading() = default;
};

/// A thread receives lidar packets, one publishes scans, one does both for the IMU. At the end what
/// is complete is still published.
///
/// A scan that is complete while two others wait to be published is dropped, and counted.
class ThreadedReading : public Reading {
 public:
  explicit ThreadedReading(Parts& parts);
  ~ThreadedReading() override;

 private:
  struct Closed {
    Scan scan;
    std::int64_t at_ns;
  };

  void receive();
  void publish();
  std::optional<Closed> next();

  Parts& parts_;
  std::atomic<bool> running_{true};
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Closed> waiting_;
  std::vector<std::thread> threads_;
};

/// As the 2020 driver: one packet a tick, lidar before IMU, all on the executor's thread.
///
/// A tick that comes when nothing is there waits for it, up to a second.
class PolledReading : public Reading {
 public:
  /// `timer` makes a timer that calls a function.
  PolledReading(Parts& parts,
                const std::function<rclcpp::TimerBase::SharedPtr(std::function<void()>)>& timer);
  ~PolledReading() override;

 private:
  void tick();

  Parts& parts_;
  rclcpp::TimerBase::SharedPtr timer_;
};

}  // namespace lidar_pipeline
