// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <rclcpp/node.hpp>
#include <stdexcept>
#include <string>
#include <vector>

namespace workload {

/// A node cannot run; the text is the whole sentence.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A node's parameters: lifecycle nodes have them too, and are no rclcpp::Node.
using Parameters = rclcpp::node_interfaces::NodeParametersInterface;

/// Declares a parameter, once, and returns its value; a whole number will do for a double.
/// Throws Error when the value has another type or is below `least`.
template <typename Value>
Value setting(Parameters& parameters, const std::string& name, const Value& value,
              std::optional<std::int64_t> least = std::nullopt);

extern template bool setting(Parameters&, const std::string&, const bool&,
                             std::optional<std::int64_t>);
extern template std::int64_t setting(Parameters&, const std::string&, const std::int64_t&,
                                     std::optional<std::int64_t>);
extern template double setting(Parameters&, const std::string&, const double&,
                               std::optional<std::int64_t>);
extern template std::string setting(Parameters&, const std::string&, const std::string&,
                                    std::optional<std::int64_t>);

template <typename Value>
Value setting(rclcpp::Node& node, const std::string& name, const Value& value,
              std::optional<std::int64_t> least = std::nullopt) {
  return setting(*node.get_node_parameters_interface(), name, value, least);
}

/// Declares a parameter that is a rate and returns it, in Hz. Throws Error when it is not above 0.
double hz(rclcpp::Node& node, const std::string& name, double value);

/// Throws Error, which names the words, when a value of a parameter is not among them.
void refuse_unknown(const std::string& parameter, const std::string& value,
                    const std::vector<std::string>& words);

/// Declares a parameter that is one of some words, the first by default. Throws Error for another.
std::string choice(Parameters& parameters, const std::string& name,
                   const std::vector<std::string>& words);

inline std::string choice(rclcpp::Node& node, const std::string& name,
                          const std::vector<std::string>& words) {
  return choice(*node.get_node_parameters_interface(), name, words);
}

}  // namespace workload
