// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <utility>

#include "nodes.hpp"
#include "services.hpp"

namespace relay_chain {

namespace {

using Make = std::shared_ptr<ChainNode> (*)(const rclcpp::NodeOptions& options);

template <typename Kind>
std::shared_ptr<ChainNode> made(const rclcpp::NodeOptions& options) {
  return std::make_shared<Kind>(options);
}

constexpr std::array<std::pair<const char*, Make>, 9> kKinds{{
    {"source", made<Source>},
    {"relay", made<Relay>},
    {"listener", made<Listener>},
    {"sink", made<Sink>},
    {"distractor", made<Distractor>},
    {"ping", made<Ping>},
    {"caller", made<Caller>},
    {"forwarder", made<Forwarder>},
    {"responder", made<Responder>},
}};

}  // namespace

std::shared_ptr<ChainNode> make_node(const std::string& name, const rclcpp::NodeOptions& options) {
  const auto own = name.substr(0, name.find('_'));
  std::string known;
  for (const auto& [kind, make] : kKinds) {
    if (own == kind) {
      return make(options);
    }
    known += (known.empty() ? "" : ", ") + std::string(kind);
  }
  throw Error("Cannot make node " + name + ": its name begins with none of " + known + ".");
}

}  // namespace relay_chain
