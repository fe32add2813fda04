// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "workload_rclcpp/settings.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <type_traits>

namespace workload {

namespace {

std::string text(double value) {
  std::array<char, 32> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
  std::string out(digits.data(), end);
  return out.find_first_not_of("-0123456789") == std::string::npos ? out + ".0" : out;
}

/// Writes a value as the nodes in Python do.
std::string text(const rclcpp::ParameterValue& value) {
  switch (value.get_type()) {
    case rclcpp::ParameterType::PARAMETER_DOUBLE:
      return text(value.get<double>());
    case rclcpp::ParameterType::PARAMETER_STRING:
      return "'" + value.get<std::string>() + "'";
    default:
      return rclcpp::to_string(value);
  }
}

template <typename Value>
constexpr const char* type_name() {
  if constexpr (std::is_same_v<Value, bool>) {
    return "bool";
  } else if constexpr (std::is_same_v<Value, std::int64_t>) {
    return "int";
  } else if constexpr (std::is_same_v<Value, double>) {
    return "float";
  } else {
    return "str";
  }
}

Error refused(const std::string& name, const std::string& why) {
  return Error("Cannot use parameter " + name + ": " + why + ".");
}

}  // namespace

template <typename Value>
Value setting(Parameters& parameters, const std::string& name, const Value& value,
              std::optional<std::int64_t> least) {
  if (!parameters.has_parameter(name)) {
    rcl_interfaces::msg::ParameterDescriptor descriptor;
    // Another type is refused below, in words that name both.
    descriptor.dynamic_typing = true;
    parameters.declare_parameter(name, rclcpp::ParameterValue(value), descriptor);
  }
  rclcpp::ParameterValue given = parameters.get_parameter(name).get_parameter_value();
  if constexpr (std::is_same_v<Value, double>) {
    if (given.get_type() == rclcpp::ParameterType::PARAMETER_INTEGER) {
      given = rclcpp::ParameterValue(static_cast<double>(given.get<std::int64_t>()));
    }
  }
  if (given.get_type() != rclcpp::ParameterValue(value).get_type()) {
    throw refused(name, text(given) + " is no " + type_name<Value>());
  }
  Value found = given.get<Value>();
  if constexpr (std::is_arithmetic_v<Value>) {
    if (least && !(found >= static_cast<Value>(*least))) {
      throw refused(name, text(given) + " is below " + std::to_string(*least));
    }
  }
  return found;
}

template bool setting(Parameters&, const std::string&, const bool&, std::optional<std::int64_t>);
template std::int64_t setting(Parameters&, const std::string&, const std::int64_t&,
                              std::optional<std::int64_t>);
template double setting(Parameters&, const std::string&, const double&,
                        std::optional<std::int64_t>);
template std::string setting(Parameters&, const std::string&, const std::string&,
                             std::optional<std::int64_t>);

double hz(rclcpp::Node& node, const std::string& name, double value) {
  const double found = setting(node, name, value);
  if (!(found > 0)) {
    throw refused(name, text(found) + " Hz is not above 0");
  }
  return found;
}

void refuse_unknown(const std::string& parameter, const std::string& value,
                    const std::vector<std::string>& words) {
  if (std::find(words.begin(), words.end(), value) != words.end()) {
    return;
  }
  std::string known;
  for (const auto& word : words) {
    known += (known.empty() ? "" : ", ") + (word.empty() ? "''" : word);
  }
  throw refused(parameter, "'" + value + "' is none of " + known);
}

std::string choice(Parameters& parameters, const std::string& name,
                   const std::vector<std::string>& words) {
  auto found = setting(parameters, name, words.front());
  refuse_unknown(name, found, words);
  return found;
}

}  // namespace workload
