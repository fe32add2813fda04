// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace relay_chain {

/// A JSON document of a node's numbers, with the keys that the nodes in Python write
/// (relay_chain/reception.py, ping.py).
class Summary {
 public:
  void add(const std::string& key, const std::string& text);
  void add(const std::string& key, bool value);
  /// Null stands for what is not known.
  void add(const std::string& key, std::optional<std::int64_t> value);
  void add(const std::string& key, std::optional<double> value);
  void add(const std::string& key, const std::vector<std::optional<std::int64_t>>& values);

  /// Writes it; throws Error when that is impossible.
  void write(const std::string& path) const;

 private:
  void add_raw(const std::string& key, const std::string& json);

  std::string json_;
};

/// Messages that pass one place: how many, how many bytes of payload, from when to when.
class Flow {
 public:
  void add(std::int64_t at_ns, std::int64_t bytes);
  /// Adds its numbers; rates are of all after the first, null when less than two came.
  void add_to(Summary& summary) const;
  [[nodiscard]] std::int64_t count() const { return count_; }

 private:
  std::int64_t count_ = 0;
  std::int64_t bytes_ = 0;
  std::int64_t first_bytes_ = 0;
  std::int64_t first_ns_ = 0;
  std::int64_t last_ns_ = 0;
};

/// What a sink received, by the numbers of the messages.
class Reception {
 public:
  void receive(std::int64_t number, std::int64_t at_ns, std::int64_t bytes);
  void add_to(Summary& summary, std::optional<std::int64_t> sent) const;
  [[nodiscard]] std::int64_t count() const { return flow_.count(); }

 private:
  Flow flow_;
  std::vector<bool> came_;
  std::int64_t different_ = 0;
  std::int64_t highest_ = -1;
  std::int64_t reordered_ = 0;
};

}  // namespace relay_chain
