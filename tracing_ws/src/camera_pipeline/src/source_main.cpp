// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include <csignal>
#include <cstdio>
#include <exception>
#include <memory>
#include <rclcpp/rclcpp.hpp>
#include <string>
#include <thread>
#include <workload_rclcpp/process.hpp>

#include "camera_source.hpp"

namespace {

using camera_pipeline::CameraSource;

/// Stops the camera at the first held signal, on a thread of its own.
void stop_when_signalled(std::weak_ptr<CameraSource> camera) {
  std::thread([camera = std::move(camera)] {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGTERM);
    int number = 0;
    sigwait(&set, &number);
    if (const auto found = camera.lock()) {
      found->stop();
    }
  }).detach();
}

/// Publishes to the end. Images are published on this thread, as in gscam outside of any callback;
/// the executor is for the services of the parameters alone.
void publish_all(const std::shared_ptr<CameraSource>& camera) {
  rclcpp::executors::SingleThreadedExecutor executor;
  executor.add_node(camera);
  std::thread spinning([&] { executor.spin(); });
  const auto end = [&] {
    // An executor that does not spin yet would forget it.
    while (!executor.is_spinning()) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    executor.cancel();
    spinning.join();
    const auto refused = camera->refused();
    std::fprintf(stderr, "camera_source: published %lld images, dropped %llu%s\n",
                 static_cast<long long>(camera->published()),
                 static_cast<unsigned long long>(camera->dropped()),
                 refused == 0 ? "" : (", refused " + std::to_string(refused)).c_str());
  };
  try {
    camera->run();
  } catch (...) {
    end();
    throw;
  }
  end();
}

}  // namespace

int main(int argc, char** argv) {
  // Before anything starts a thread.
  workload::hold_signals();
  try {
    workload::init_ros(argc, argv);
    const auto camera = std::make_shared<CameraSource>(rclcpp::NodeOptions());
    stop_when_signalled(camera);
    publish_all(camera);
    rclcpp::shutdown();
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
