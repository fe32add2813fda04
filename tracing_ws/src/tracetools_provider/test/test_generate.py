# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The generator on small headers, and on what does not fit together."""

import importlib.util
from pathlib import Path

import pytest

_SPEC = importlib.util.spec_from_file_location(
    "generate", Path(__file__).resolve().parents[1] / "generate.py"
)
generate = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(generate)

TRACETOOLS_H = """
#  define _DECLARE_TRACEPOINT_ARGS(event_name, ...) nothing
/// text
_DECLARE_TRACEPOINT(
  rclcpp_publish,
  const void * publisher_handle,
  const void * message)

_DECLARE_TRACEPOINT(
  rcl_node_init,
  const char * node_namespace)

_DECLARE_TRACEPOINT(rclcpp_executor_get_next_ready)
"""

TP_CALL_H = """
TRACEPOINT_EVENT(
  TRACEPOINT_PROVIDER,
  rclcpp_publish,
  TP_ARGS(
    const void *, message_arg
  ),
  TP_FIELDS(ctf_integer_hex(const void *, message, message_arg))
)
TRACEPOINT_EVENT(
  TRACEPOINT_PROVIDER,
  rcl_node_init,
  TP_ARGS(
    const char *, namespace_arg
  ),
  TP_FIELDS()
)
TRACEPOINT_EVENT(
  TRACEPOINT_PROVIDER,
  rclcpp_executor_get_next_ready,
  TP_ARGS(
  ),
  TP_FIELDS()
)
"""


def test_parameters_that_the_event_lacks_are_left_out():
    source = generate.generate(TRACETOOLS_H, TP_CALL_H)
    assert (
        "void ros_trace_rclcpp_publish(const void * publisher_handle, const void * message)\n"
        "{\n  (void)(publisher_handle);\n"
        "  begin();\n  tracepoint(ros2, rclcpp_publish, message);\n}" in source
    )


def test_parameters_of_another_name_are_passed_by_position():
    source = generate.generate(TRACETOOLS_H, TP_CALL_H)
    assert "tracepoint(ros2, rcl_node_init, node_namespace);" in source


def test_a_tracepoint_without_parameters_has_three_functions():
    source = generate.generate(TRACETOOLS_H, TP_CALL_H)
    for text in (
        "void ros_trace_rclcpp_executor_get_next_ready()",
        "bool ros_trace_enabled_rclcpp_executor_get_next_ready()",
        "do_tracepoint(ros2, rclcpp_executor_get_next_ready);",
    ):
        assert text in source


def test_an_event_without_a_function_is_refused():
    with pytest.raises(SystemExit, match=r"do not fit together \(rcl_node_init"):
        generate.generate(TRACETOOLS_H.replace("rcl_node_init", "rcl_other_init"), TP_CALL_H)


def test_an_argument_without_a_parameter_is_refused():
    with pytest.raises(SystemExit, match="the event's payload is no parameter"):
        generate.generate(TRACETOOLS_H, TP_CALL_H.replace("message_arg\n", "payload_arg\n"))
