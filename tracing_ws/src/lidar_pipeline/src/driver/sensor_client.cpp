// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "sensor_client.hpp"

#include <netdb.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <nlohmann/json.hpp>
#include <system_error>
#include <utility>
#include <vector>

namespace lidar_pipeline {

namespace {

using Json = nlohmann::ordered_json;

constexpr timeval kTimeout{5, 0};
/// Far above any answer: the longest has some KB.
constexpr std::size_t kLongestAnswer = 1 << 20;

/// A TCP connection of lines. Throws std::exception when it fails.
class Lines {
 public:
  Lines(const std::string& host, std::uint16_t port) {
    addrinfo hints{};
    hints.ai_socktype = SOCK_STREAM;
    addrinfo* found = nullptr;
    const int status = getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &found);
    if (status != 0) {
      throw std::runtime_error(gai_strerror(status));
    }
    const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> addresses(found, freeaddrinfo);
    // A name may have several, of which the sensor answers at one.
    for (const auto* one = found; one != nullptr; one = one->ai_next) {
      if (connects(*one)) {
        return;
      }
    }
    fail();
  }
  Lines(const Lines&) = delete;
  Lines& operator=(const Lines&) = delete;
  ~Lines() { close(socket_); }

  std::string ask(const std::string& command) {
    const auto line = command + "\n";
    if (send(socket_, line.data(), line.size(), MSG_NOSIGNAL) !=
        static_cast<ssize_t>(line.size())) {
      fail();
    }
    std::size_t end = 0;
    while ((end = come_.find('\n')) == std::string::npos) {
      std::array<char, 4096> more;
      const auto size = recv(socket_, more.data(), more.size(), 0);
      if (size < 0) {
        fail();
      }
      if (size == 0) {
        throw std::runtime_error("it closed the connection");
      }
      come_.append(more.data(), static_cast<std::size_t>(size));
      if (come_.size() > kLongestAnswer) {
        throw std::runtime_error("it answers '" + command + "' without an end of line");
      }
    }
    auto answer = come_.substr(0, end);
    come_.erase(0, end + 1);
    answer.erase(answer.find_last_not_of(" \r") + 1);
    return answer;
  }

 private:
  bool connects(const addrinfo& address) {
    if (socket_ >= 0) {
      close(socket_);
    }
    socket_ = socket(address.ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    // It also bounds the time of connect().
    setsockopt(socket_, SOL_SOCKET, SO_SNDTIMEO, &kTimeout, sizeof kTimeout);
    setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &kTimeout, sizeof kTimeout);
    return socket_ >= 0 && connect(socket_, address.ai_addr, address.ai_addrlen) == 0;
  }

  [[noreturn]] void fail() {
    const int code = errno == EINPROGRESS || errno == EAGAIN ? ETIMEDOUT : errno;
    if (socket_ >= 0) {
      close(std::exchange(socket_, -1));
    }
    throw std::runtime_error(std::generic_category().message(code));
  }

  int socket_ = -1;
  std::string come_;
};

void command(Lines& lines, const std::string& at, const std::string& text) {
  // The space at the end is the 2020 driver's.
  const auto answer = lines.ask(text + " ");
  if (answer != text.substr(0, text.find(' '))) {
    throw SensorError("Cannot set the sensor at " + at + " up: '" + text + "' gave '" + answer +
                      "'.");
  }
}

Angles angles(const Json& values, const char* name) {
  const auto given = values.value(name, std::vector<double>());
  Angles found{};
  if (given.size() != found.size()) {
    throw SensorError("Cannot use the sensor: it has " + std::to_string(given.size()) + " " + name +
                      ", not " + std::to_string(kPixels) +
                      ". It must have firmware 1.13's format.");
  }
  std::copy(given.begin(), given.end(), found.begin());
  return found;
}

Json ask_for_all(const Connection& connection, const std::string& at) {
  Lines lines(connection.lidar_ip, connection.tcp_port);
  const auto set = [&](const char* name, const std::string& value) {
    command(lines, at, std::string("set_config_param ") + name + " " + value);
  };
  set("udp_ip", connection.computer_ip);
  set("udp_port_lidar", std::to_string(connection.lidar_port));
  set("udp_port_imu", std::to_string(connection.imu_port));
  set("lidar_mode", connection.lidar_mode.name);
  if (!connection.by_reception()) {
    set("timestamp_mode", connection.timestamp_mode);
  }
  Json values = Json::object();
  for (const auto* query :
       {"get_sensor_info", "get_beam_intrinsics", "get_imu_intrinsics", "get_lidar_intrinsics"}) {
    values.update(Json::parse(lines.ask(query)));
  }
  command(lines, at, "reinitialize");
  return values;
}

}  // namespace

Metadata set_up(const Connection& connection) {
  const auto at = connection.lidar_ip + ":" + std::to_string(connection.tcp_port);
  try {
    Json values = ask_for_all(connection, at);
    Metadata metadata{};
    metadata.azimuths = angles(values, "beam_azimuth_angles");
    metadata.altitudes = angles(values, "beam_altitude_angles");
    metadata.imu_to_sensor = values.at("imu_to_sensor_transform").get<Matrix>();
    metadata.lidar_to_sensor = values.at("lidar_to_sensor_transform").get<Matrix>();
    values.update(Json{{"lidar_ip", connection.lidar_ip},
                       {"computer_ip", connection.computer_ip},
                       {"tcp_port", connection.tcp_port},
                       {"lidar_port", connection.lidar_port},
                       {"imu_port", connection.imu_port},
                       {"lidar_mode", connection.lidar_mode.name},
                       {"timestamp_mode", connection.timestamp_mode}});
    metadata.json = values.dump();
    return metadata;
  } catch (const SensorError&) {
    throw;
  } catch (const std::exception& error) {
    throw SensorError("Cannot set the sensor at " + at + " up: " + error.what() +
                      ". Check lidar_ip, and its power.");
  }
}

}  // namespace lidar_pipeline
