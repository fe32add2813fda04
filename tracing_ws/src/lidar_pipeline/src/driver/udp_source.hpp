// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
// A UDP socket with a large buffer, that knows how many datagrams the kernel dropped:
// lidar_pipeline/driver/udp_source.py in C++.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "scan_assembly.hpp"

namespace lidar_pipeline {

/// A bound socket, which counts what it read.
class UdpSource {
 public:
  /// `buffer_bytes` are asked for in the kernel's own accounting; 0: its default. Throws
  /// std::system_error when the port cannot be bound.
  UdpSource(const std::string& name, std::uint16_t port, std::int64_t buffer_bytes);
  UdpSource(const UdpSource&) = delete;
  UdpSource& operator=(const UdpSource&) = delete;
  ~UdpSource();

  [[nodiscard]] int descriptor() const { return socket_; }
  [[nodiscard]] std::uint16_t port() const { return port_; }
  /// Id among the driver's tracepoints.
  [[nodiscard]] std::uint64_t id() const { return id_; }
  /// Bytes of the socket's buffer, in the kernel's own accounting.
  [[nodiscard]] int granted() const { return granted_; }
  [[nodiscard]] std::int64_t received() const { return received_; }
  /// The kernel's count, as it was when the last one that was read was queued.
  [[nodiscard]] std::int64_t dropped() const { return dropped_; }
  /// Number of the last datagram that was read, from 0.
  [[nodiscard]] std::uint64_t sequence() const { return sequence_; }

  /// Has `receive` give nothing when nothing came for so long.
  void wait_at_most(std::chrono::microseconds time);
  /// Reads one datagram and gives its length; nothing when none came in time.
  std::optional<std::size_t> receive(void* into, std::size_t size);
  /// Counts what came and is not read: empties the socket, which is read no more.
  std::int64_t unread();

 private:
  void ask_for_buffer(std::int64_t size);

  int socket_;
  std::uint16_t port_ = 0;
  std::uint64_t id_ = 0;
  int granted_ = 0;
  Count received_{0};
  Count dropped_{0};
  std::uint64_t sequence_ = 0;
};

/// The first of two sources that has a datagram; null when none has in time.
UdpSource* first_readable(UdpSource& one, UdpSource& other, std::chrono::milliseconds time);

}  // namespace lidar_pipeline
