// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "nodes.hpp"

namespace relay_chain {

std::shared_ptr<ChainNode> make_node(const std::string& name, const rclcpp::NodeOptions& options) {
  const auto kind = name.substr(0, name.find('_'));
  if (kind == "source") {
    return std::make_shared<Source>(options);
  }
  if (kind == "relay") {
    return std::make_shared<Relay>(options);
  }
  if (kind == "sink") {
    return std::make_shared<Sink>(options);
  }
  if (kind == "ping") {
    return std::make_shared<Ping>(options);
  }
  if (kind == "distractor") {
    return std::make_shared<Distractor>(options);
  }
  throw Error("Cannot make node " + name +
              ": its name begins with none of source, relay, sink, distractor, ping.");
}

}  // namespace relay_chain
