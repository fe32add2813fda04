// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "summary.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <workload_rclcpp/settings.hpp>

namespace relay_chain {

namespace {

constexpr double kSecondNs = 1e9;

std::string text(std::optional<std::int64_t> value) {
  return value ? std::to_string(*value) : "null";
}

}  // namespace

void Summary::add_raw(const std::string& key, const std::string& json) {
  json_ += (json_.empty() ? "{\n \"" : ",\n \"") + key + "\": " + json;
}

void Summary::add(const std::string& key, const std::string& text) {
  // Names of nodes and types: nothing in them is to be escaped.
  add_raw(key, "\"" + text + "\"");
}

void Summary::add(const std::string& key, bool value) { add_raw(key, value ? "true" : "false"); }

void Summary::add(const std::string& key, std::optional<std::int64_t> value) {
  add_raw(key, text(value));
}

void Summary::add(const std::string& key, std::optional<double> value) {
  if (!value) {
    add_raw(key, "null");
    return;
  }
  std::array<char, 32> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), *value).ptr;
  add_raw(key, std::string(digits.data(), end));
}

void Summary::add(const std::string& key, const std::vector<std::optional<std::int64_t>>& values) {
  std::string list;
  for (const auto& value : values) {
    list += (list.empty() ? "" : ", ") + text(value);
  }
  add_raw(key, "[" + list + "]");
}

void Summary::write(const std::string& path) const {
  const std::filesystem::path file(path);
  std::filesystem::create_directories(file.parent_path());
  std::ofstream out(file, std::ios::binary);
  out << json_ << "\n}\n";
  out.close();
  if (!out) {
    throw workload::Error("Cannot write a summary to " + path + ": the file system refused it.");
  }
}

void Flow::add(std::int64_t at_ns, std::int64_t bytes) {
  if (count_ == 0) {
    first_ns_ = at_ns;
    first_bytes_ = bytes;
  }
  ++count_;
  bytes_ += bytes;
  last_ns_ = at_ns;
}

void Flow::add_to(Summary& summary) const {
  const double seconds = static_cast<double>(last_ns_ - first_ns_) / kSecondNs;
  const auto any = [&](std::int64_t value) {
    return count_ > 0 ? std::optional(value) : std::nullopt;
  };
  const auto rate = [&](std::int64_t amount) {
    return count_ > 1 && seconds > 0 ? std::optional(static_cast<double>(amount) / seconds)
                                     : std::nullopt;
  };
  summary.add("bytes", std::optional(bytes_));
  summary.add("first_ns", any(first_ns_));
  summary.add("last_ns", any(last_ns_));
  summary.add("seconds", std::optional(seconds));
  summary.add("messages_per_second", rate(count_ - 1));
  summary.add("bytes_per_second", rate(bytes_ - first_bytes_));
}

void Reception::receive(std::int64_t number, std::int64_t at_ns, std::int64_t bytes) {
  flow_.add(at_ns, bytes);
  if (number < 0) {
    return;
  }
  const auto index = static_cast<std::size_t>(number);
  if (index >= came_.size()) {
    came_.resize(std::max(index + 1, 2 * came_.size()));
  }
  different_ += came_[index] ? 0 : 1;
  came_[index] = true;
  reordered_ += number < highest_ ? 1 : 0;
  highest_ = std::max(highest_, number);
}

void Reception::add_to(Summary& summary, std::optional<std::int64_t> sent) const {
  summary.add("received", std::optional(flow_.count()));
  summary.add("sent", sent);
  std::optional<std::int64_t> lost;
  if (sent) {
    const auto until =
        came_.begin() + std::min<std::int64_t>(*sent, static_cast<std::int64_t>(came_.size()));
    lost = *sent - std::count(came_.begin(), until, true);
  }
  summary.add("lost", lost);
  summary.add("duplicates", std::optional(flow_.count() - different_));
  summary.add("reordered", std::optional(reordered_));
  flow_.add_to(summary);
}

}  // namespace relay_chain
