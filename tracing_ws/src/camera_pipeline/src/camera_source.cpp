// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "camera_source.hpp"

#include <driver_tracepoints/driver.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <thread>
#include <utility>
#include <workload_rclcpp/measuring_node.hpp>
#include <workload_rclcpp/settings.hpp>

#include "camera_settings.hpp"
#include "capture.h"
#include "python_answers.hpp"

namespace camera_pipeline {

namespace {

using sensor_msgs::msg::CameraInfo;
using sensor_msgs::msg::CompressedImage;
using sensor_msgs::msg::Image;
using workload::choice;
using workload::Error;
using workload::kSecondNs;
using workload::setting;

constexpr std::int64_t kSliceNs = kSecondNs / 10;
constexpr std::int64_t kStartNs = 10 * kSecondNs;
constexpr std::chrono::milliseconds kAcknowledged{5000};
constexpr std::chrono::milliseconds kAcknowledgedWhenStopped{500};
constexpr std::chrono::milliseconds kPoll{20};
constexpr const char* kAnswers = "camera_pipeline.source_answers";
constexpr const char* kJpeg = "jpeg";

/// What the appsink takes for each image_encoding, as in gscam.
const std::map<std::string, const char*> kCaps{{"rgb8", "video/x-raw,format=RGB"},
                                               {"mono8", "video/x-raw,format=GRAY8"},
                                               {"yuv422", "video/x-raw,format=UYVY"},
                                               {kJpeg, "image/jpeg"}};

/// CLOCK_MONOTONIC.
std::int64_t monotonic_ns() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::nanoseconds>(now).count();
}

/// Why a capture failed, freed with it.
struct Failure : failure {
  Failure() : failure{nullptr, nullptr, nullptr} {}
  Failure(const Failure&) = delete;
  Failure& operator=(const Failure&) = delete;
  ~Failure() { failure_clear(this); }

  /// The sentence that the node in Python says.
  [[nodiscard]] Error explained(const std::string& description, const std::string& encoding) const {
    const auto text = [](const char* value) { return std::string(value == nullptr ? "" : value); };
    const auto told = ask_python(
        kAnswers, {"explain", text(message), text(code), text(debug), description, encoding});
    return told.status == 0 && !told.text.empty()
               ? Error(told.text)
               : Error("Cannot run pipeline '" + description + "': " + text(message) + ".");
  }
};

struct CaptureCloser {
  void operator()(capture* stream) const { capture_close(stream); }
};

struct FrameReleaser {
  frame& pulled;
  explicit FrameReleaser(frame& one) : pulled(one) {}
  FrameReleaser(const FrameReleaser&) = delete;
  FrameReleaser& operator=(const FrameReleaser&) = delete;
  ~FrameReleaser() { frame_release(&pulled); }
};

void initialize_gstreamer() {
  GError* error = nullptr;
  if (!gst_init_check(nullptr, nullptr, &error)) {
    const std::string why = error != nullptr ? error->message : "it refused";
    g_clear_error(&error);
    throw Error("Cannot make a pipeline: GStreamer does not start: " + why +
                ". Check its installation with gst-inspect-1.0.");
  }
}

/// Where camera_info_manager looks when no URL is given.
std::filesystem::path default_calibration(const std::string& name) {
  const char* ros_home = std::getenv("ROS_HOME");
  const char* home = std::getenv("HOME");
  const auto base = ros_home != nullptr
                        ? std::filesystem::path(ros_home)
                        : std::filesystem::path(home == nullptr ? "" : home) / ".ros";
  return base / "camera_info" / (name + ".yaml");
}

/// Reads what follows the word `calibration` in the answer of source_answers.py.
bool read_calibration_answer(std::istream& lines, CameraInfo& info) {
  std::string rest;
  lines >> info.width >> info.height;
  std::getline(lines, rest);
  // The line of the model may be empty.
  std::getline(lines, info.distortion_model);
  std::size_t distortions = 0;
  lines >> distortions;
  info.d.resize(lines ? distortions : 0);
  for (auto& value : info.d) lines >> value;
  for (auto& value : info.k) lines >> value;
  for (auto& value : info.r) lines >> value;
  for (auto& value : info.p) lines >> value;
  return static_cast<bool>(lines);
}

}  // namespace

CameraSource::CameraSource(const rclcpp::NodeOptions& options)
    : Node("gscam_publisher", options),
      description_(pipeline()),
      sync_(setting(*this, "sync_sink", true)),
      preroll_(setting(*this, "preroll", false)),
      use_gst_timestamps_(setting(*this, "use_gst_timestamps", false)),
      reopen_on_eof_(setting(*this, "reopen_on_eof", false)),
      encoding_(choice(*this, "image_encoding", {"rgb8", "mono8", "yuv422", kJpeg})),
      frame_id_(setting(*this, "frame_id", std::string("camera_frame"))),
      images_(setting(*this, "images", std::int64_t{0}, 0)),
      peers_(static_cast<std::size_t>(setting(*this, "peers", std::int64_t{0}, 0))),
      peers_wait_(setting(*this, "peers_s", 30.0, 0)),
      max_buffers_(static_cast<unsigned>(setting(*this, "max_buffers", std::int64_t{0}, 0))),
      log_(output(*this, "log", setting(*this, "force", false))) {
  initialize_gstreamer();
  read_calibration();
  make_publishers();
}

CameraSource::~CameraSource() = default;

std::string CameraSource::pipeline() {
  const auto parameter = setting(*this, "gscam_config", std::string());
  const char* environment = std::getenv("GSCAM_CONFIG");
  if (!parameter.empty() && environment != nullptr) {
    throw Error(
        "Cannot choose a pipeline: both the environment's GSCAM_CONFIG and the parameter "
        "gscam_config are set. Set one of them.");
  }
  const std::string found = environment != nullptr ? environment : parameter;
  if (found.empty()) {
    throw Error(
        "Cannot make a pipeline: neither the parameter gscam_config nor the environment's "
        "GSCAM_CONFIG is set. Set one of them, like 'videotestsrc ! videoconvert'.");
  }
  return found;
}

void CameraSource::read_calibration() {
  const auto url = setting(*this, "camera_info_url", std::string());
  const auto name = setting(*this, "camera_name", std::string());
  // Mostly there is none: then no other program is needed.
  if (url.empty() && !std::filesystem::exists(default_calibration(name))) {
    return;
  }
  const auto answer = ask_python(kAnswers, {"calibration", url, name});
  std::istringstream lines(answer.text);
  std::string kind;
  if (!(lines >> kind) || kind != "calibration") {
    std::string text;
    std::getline(lines >> std::ws, text);
    RCLCPP_WARN(get_logger(), "%s", text.empty() ? "No calibration: uncalibrated" : text.c_str());
    return;
  }
  if (!read_calibration_answer(lines, info_)) {
    info_ = CameraInfo();
    RCLCPP_WARN(get_logger(),
                "Cannot read calibration %s: it has a value that is no number. "
                "Going on uncalibrated.",
                url.c_str());
    return;
  }
  RCLCPP_INFO(get_logger(), "Read calibration %s", url.c_str());
}

void CameraSource::make_publishers() {
  const bool sensor_data = setting(*this, "use_sensor_data_qos", false);
  const auto qos = qos_settings(
      *this, sensor_data ? rclcpp::QoS(rclcpp::SensorDataQoS()) : rclcpp::QoS(1).reliable());
  if (encoding_ == kJpeg) {
    compressed_publisher_ = create_publisher<CompressedImage>("camera/image_raw/compressed", qos);
  } else {
    image_publisher_ = create_publisher<Image>("camera/image_raw", qos);
  }
  info_publisher_ = create_publisher<CameraInfo>("camera/camera_info", qos);
  info_.header.frame_id = frame_id_;
  // Counting publishers applies no remapping.
  ready_topic_ = get_node_topics_interface()->resolve_topic_name(kReadyTopic);
}

void CameraSource::run() {
  wait_for_peers();
  try {
    for (run_stream(); !done() && reopen_on_eof_; run_stream()) {
      RCLCPP_INFO(get_logger(), "Reopening the stream");
    }
  } catch (...) {
    write_log();
    throw;
  }
  write_log();
  acknowledged();
}

void CameraSource::acknowledged() {
  // What a reliable subscription has not got yet would be lost with the publisher.
  const auto most = stop_ ? kAcknowledgedWhenStopped : kAcknowledged;
  if (image_publisher_) {
    image_publisher_->wait_for_all_acked(most);
  } else {
    compressed_publisher_->wait_for_all_acked(most);
  }
  info_publisher_->wait_for_all_acked(most);
}

void CameraSource::wait_for_peers() {
  const auto began = std::chrono::steady_clock::now();
  for (auto found = connected(); found < peers_; found = connected()) {
    if (stop_) {
      return;
    }
    if (std::chrono::steady_clock::now() - began > peers_wait_) {
      std::ostringstream text;
      text << "Cannot begin: " << found << " of " << peers_ << " subscribers are ready after "
           << peers_wait_.count()
           << " s. Check that they run, with the same ROS_DOMAIN_ID and QoS that fit.";
      throw Error(text.str());
    }
    std::this_thread::sleep_for(kPoll);
  }
}

std::size_t CameraSource::connected() const {
  const auto images = image_publisher_ ? image_publisher_->get_subscription_count()
                                       : compressed_publisher_->get_subscription_count();
  return std::min(
      {count_publishers(ready_topic_), images, info_publisher_->get_subscription_count()});
}

void CameraSource::play(capture& stream) {
  Failure why;
  const auto reached = [&](GstState state) {
    return capture_set_state(&stream, state, kStartNs, &why);
  };
  const bool played = reached(GST_STATE_PAUSED) &&
                      (!preroll_ || (reached(GST_STATE_PLAYING) && reached(GST_STATE_PAUSED))) &&
                      reached(GST_STATE_PLAYING);
  if (!played) {
    throw why.explained(description_, encoding_);
  }
}

void CameraSource::run_stream() {
  Failure why;
  const std::unique_ptr<capture, CaptureCloser> stream(
      capture_open(description_.c_str(), kCaps.at(encoding_), sync_, max_buffers_, &why));
  if (stream == nullptr) {
    throw why.explained(description_, encoding_);
  }
  const auto source = strata_driver_source_init("appsink", "camera", capture_name(stream.get()));
  // Said before the first image: it would wait for this.
  RCLCPP_INFO(get_logger(), "Publishing images of '%s'", description_.c_str());
  // gscam's calibration: the ROS clock less GStreamer's, which is CLOCK_MONOTONIC.
  const auto offset_ns = now().nanoseconds() - monotonic_ns();
  play(*stream);
  const std::uint64_t before = dropped_;
  while (!done()) {
    frame pulled{};
    switch (capture_pull(stream.get(), kSliceNs, &pulled, &why)) {
      case PULLED_FRAME: {
        const FrameReleaser releaser(pulled);
        publish(pulled, source, offset_ns);
        dropped_ = before + pulled.dropped;
        break;
      }
      case PULLED_NOTHING:
        break;
      case PULLED_END:
        RCLCPP_INFO(get_logger(), "The stream ended");
        return;
      case PULLED_ERROR:
        throw why.explained(description_, encoding_);
    }
  }
}

void CameraSource::publish(const frame& pulled, std::uint64_t source, std::int64_t offset_ns) {
  Stamps row{};
  row.frame = published_ + refused_;
  row.pts_ns = pulled.pts_ns;
  row.arrived_ns = pulled.arrived_ns;
  row.pulled_ns = monotonic_ns();
  strata_driver_buffer_pulled(source, static_cast<std::uint64_t>(row.frame),
                              static_cast<std::uint32_t>(pulled.size), pulled.pts_ns,
                              row.pulled_ns - row.arrived_ns, pulled.dropped);
  row.stamp_ns = use_gst_timestamps_ && pulled.clock_ns >= 0 ? pulled.clock_ns + offset_ns
                                                             : now().nanoseconds();
  builtin_interfaces::msg::Time stamp;
  stamp.sec = static_cast<std::int32_t>(row.stamp_ns / kSecondNs);
  stamp.nanosec = static_cast<std::uint32_t>(row.stamp_ns % kSecondNs);
  publish_image(pulled, stamp, source, row);
  info_.header.stamp = stamp;
  if (info_.k[0] == 0.0) {
    // Uncalibrated: only the size is known.
    info_.width = static_cast<std::uint32_t>(pulled.width);
    info_.height = static_cast<std::uint32_t>(pulled.height);
  }
  info_publisher_->publish(info_);
  if (!log_.empty()) {
    rows_.push_back(row);
  }
}

void CameraSource::publish_image(const frame& pulled, const builtin_interfaces::msg::Time& stamp,
                                 std::uint64_t source, Stamps& row) {
  const auto ready = [&] {
    strata_driver_copy_done(source, static_cast<std::uint64_t>(row.frame), pulled.size);
    row.publish_ns = monotonic_ns();
  };
  const auto fill = [&](Image& image) {
    image.header.stamp = stamp;
    image.header.frame_id = frame_id_;
    image.width = static_cast<std::uint32_t>(pulled.width);
    image.height = static_cast<std::uint32_t>(pulled.height);
    image.step = static_cast<std::uint32_t>(pulled.step);
    image.encoding = encoding_;
    // Not by resize, which would clear what is written next.
    image.data.assign(pulled.data, pulled.data + pulled.size);
  };
  bool taken = false;
  if (compressed_publisher_) {
    compressed_.header.stamp = stamp;
    compressed_.header.frame_id = frame_id_;
    compressed_.format = kJpeg;
    compressed_.data.assign(pulled.data, pulled.data + pulled.size);
    ready();
    taken = is_taken([&] { compressed_publisher_->publish(compressed_); });
  } else if (image_publisher_->get_intra_process_subscription_count() > 0) {
    // A subscription of this process becomes its owner, without a copy.
    auto image = std::make_unique<Image>();
    fill(*image);
    ready();
    taken = is_taken([&] { image_publisher_->publish(std::move(image)); });
  } else {
    fill(image_);
    ready();
    taken = is_taken([&] { image_publisher_->publish(image_); });
  }
  row.published_ns = monotonic_ns();
  ++(taken ? published_ : refused_);
}

bool CameraSource::is_taken(const std::function<void()>& act) {
  try {
    act();
    return true;
  } catch (const rclcpp::exceptions::RCLError& error) {
    if (refused_ == 0) {
      RCLCPP_WARN(get_logger(), "An image is refused, and lost: %s", error.what());
    }
    return false;
  }
}

void CameraSource::write_log() const {
  if (log_.empty()) {
    return;
  }
  const auto directory = std::filesystem::path(log_).parent_path();
  if (!directory.empty()) {
    std::filesystem::create_directories(directory);
  }
  std::ofstream file(log_);
  file << "frame,pts_ns,stamp_ns,arrived_mono_ns,pulled_mono_ns,publish_mono_ns,"
          "published_mono_ns\n";
  for (const auto& row : rows_) {
    file << row.frame << ',' << row.pts_ns << ',' << row.stamp_ns << ',' << row.arrived_ns << ','
         << row.pulled_ns << ',' << row.publish_ns << ',' << row.published_ns << '\n';
  }
  file.flush();
  if (!file) {
    throw Error("Cannot write " + log_ + ": the disk or the directory refused it.");
  }
}

}  // namespace camera_pipeline
