// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <rclcpp/node.hpp>
#include <string>
#include <utility>

namespace workload {

constexpr std::int64_t kSecondNs = 1'000'000'000;

/// CLOCK_REALTIME, in ns since the epoch.
inline std::int64_t epoch_ns() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::nanoseconds>(now).count();
}

/// A message's stamp, in ns since its clock's epoch.
template <typename Time>
std::int64_t stamp_ns(const Time& stamp) {
  return stamp.sec * kSecondNs + stamp.nanosec;
}

/// A node that takes samples until it has what it was asked for, and then has results to write.
///
/// The last class of a hierarchy calls `report_at_last` in its destructor: as a component, a node
/// writes its results when it is unloaded.
class MeasuringNode : public rclcpp::Node {
 public:
  using rclcpp::Node::Node;

  /// Has `act` called when the node has nothing more to do, in one of its callbacks.
  void when_done(std::function<void()> act) { act_ = std::move(act); }
  /// Writes the results, once; the exit status.
  int report();
  /// Has no results written.
  void withdraw() { reported_ = true; }

 protected:
  [[nodiscard]] bool done() const { return done_; }
  /// There is nothing more to do; a problem is told when the results are written.
  void finish(std::optional<std::string> problem = std::nullopt);
  void report_at_last() noexcept;

 private:
  /// Writes the results; the exit status.
  virtual int write_results() = 0;

  std::function<void()> act_;
  bool done_ = false;
  bool reported_ = false;
  std::optional<std::string> problem_;
};

/// The main function of a process with one such node; the exit status.
int run_measuring(int argc, char** argv,
                  const std::function<std::shared_ptr<MeasuringNode>()>& make);

}  // namespace workload
