// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "udp_source.hpp"

#include <arpa/inet.h>
#include <driver_tracepoints/driver.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <system_error>

namespace lidar_pipeline {

namespace {

std::system_error last_error(const char* what) { return {errno, std::generic_category(), what}; }

}  // namespace

UdpSource::UdpSource(const std::string& name, std::uint16_t port, std::int64_t buffer_bytes)
    : socket_(socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0)) {
  if (socket_ < 0) {
    throw last_error("socket");
  }
  strata_driver_prepare(socket_);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_ANY);
  address.sin_port = htons(port);
  socklen_t size = sizeof address;
  if (bind(socket_, reinterpret_cast<sockaddr*>(&address), size) < 0 ||
      getsockname(socket_, reinterpret_cast<sockaddr*>(&address), &size) < 0) {
    const auto error = last_error("bind");
    close(socket_);
    throw error;
  }
  port_ = ntohs(address.sin_port);
  ask_for_buffer(buffer_bytes);
  id_ =
      strata_driver_source_init("udp", name.c_str(), ("0.0.0.0:" + std::to_string(port_)).c_str());
}

UdpSource::~UdpSource() { close(socket_); }

void UdpSource::ask_for_buffer(std::int64_t size) {
  // The kernel doubles what it is asked for, and reports the double.
  const int half = static_cast<int>(size / 2);
  if (size != 0 && setsockopt(socket_, SOL_SOCKET, SO_RCVBUFFORCE, &half, sizeof half) < 0) {
    setsockopt(socket_, SOL_SOCKET, SO_RCVBUF, &half, sizeof half);
  }
  socklen_t length = sizeof granted_;
  getsockopt(socket_, SOL_SOCKET, SO_RCVBUF, &granted_, &length);
}

void UdpSource::wait_at_most(std::chrono::microseconds time) {
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(time);
  const timeval wait{seconds.count(), (time - seconds).count()};
  setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof wait);
}

std::optional<std::size_t> UdpSource::receive(void* into, std::size_t size) {
  strata_driver_packet packet{};
  const auto length = strata_driver_receive(id_, socket_, into, size, 0, &packet);
  if (length < 0) {
    return std::nullopt;
  }
  sequence_ = packet.sequence;
  if (packet.dropped != 0) {
    dropped_ = packet.dropped;
  }
  ++received_;
  return static_cast<std::size_t>(length);
}

std::int64_t UdpSource::unread() {
  std::int64_t left = 0;
  char nothing = 0;
  while (recv(socket_, &nothing, 1, MSG_DONTWAIT) >= 0) {
    ++left;
  }
  std::array<std::uint32_t, SK_MEMINFO_VARS> told{};
  socklen_t size = sizeof told;
  getsockopt(socket_, SOL_SOCKET, SO_MEMINFO, told.data(), &size);
  return left + told[SK_MEMINFO_DROPS] - dropped_;
}

UdpSource* first_readable(UdpSource& one, UdpSource& other, std::chrono::milliseconds time) {
  std::array<pollfd, 2> both{{{one.descriptor(), POLLIN, 0}, {other.descriptor(), POLLIN, 0}}};
  if (poll(both.data(), both.size(), static_cast<int>(time.count())) <= 0) {
    return nullptr;
  }
  return both[0].revents != 0 ? &one : &other;
}

}  // namespace lidar_pipeline
