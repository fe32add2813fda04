# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The sets of events by distribution are those of its headers; versions choose them."""

from __future__ import annotations

from pathlib import Path

import pytest
from test_events import header_events

from strata.schema.distros import DISTROS, distro_of, events_of, parse_version, released_between
from strata.schema.event import Kind


@pytest.mark.parametrize(
    ("environment", "distro"), [(".venv", "jazzy"), (".venv-kilted", "kilted")]
)
def test_a_distro_has_the_events_and_fields_of_its_header(
    root: Path, environment: str, distro: str
) -> None:
    header = header_events(root / environment / "include/tracetools/tracetools/tp_call.h")
    derived: dict[str, list[tuple[str, Kind]]] = {
        name: [(field.name, field.kind) for field in fields]
        for name, fields in events_of(distro).items()
    }
    assert derived == header


def test_older_distros_have_what_their_tags_have() -> None:
    # Counted in tp_call.h of the tags 4.1.1 and 6.3.2 of ros2_tracing.
    humble, iron, jazzy = (events_of(name) for name in ("humble", "iron", "jazzy"))
    assert (len(humble), len(iron)) == (28, 35)
    assert set(iron) == set(jazzy)
    assert [field.name for field in iron["ros2:rmw_publish"]] == ["message"]
    added = {name.removeprefix("ros2:") for name in set(iron) - set(humble)}
    assert added == {
        "rclcpp_intra_publish",
        "rclcpp_ipb_to_subscription",
        "rclcpp_buffer_to_ipb",
        "rclcpp_construct_ring_buffer",
        "rclcpp_ring_buffer_enqueue",
        "rclcpp_ring_buffer_dequeue",
        "rclcpp_ring_buffer_clear",
    }


@pytest.mark.parametrize(
    ("version", "name"),
    [
        ("4.1.1", "humble"),
        ("5.1.0", "humble"),
        ("6.0.0", "humble"),
        ("6.1.0", "iron"),
        ("6.3.2", "iron"),
        ("7.1.0", "iron"),
        ("8.0.0", "jazzy"),
        ("8.2.4", "jazzy"),
        ("8.4.1", "jazzy"),
        ("8.5.0", "kilted"),
        ("8.6.0", "kilted"),
        ("8.9.0", "kilted"),
        ("8.10.2", "lyrical"),
        ("9.0", "lyrical"),
    ],
)
def test_a_version_chooses_the_distro_whose_events_it_has(version: str, name: str) -> None:
    number = parse_version(version)
    assert number is not None
    distro = distro_of(number)
    assert distro is not None
    assert distro.name == name


def test_versions_before_humble_and_other_texts_choose_none() -> None:
    galactic = parse_version("2.3.0")
    assert galactic is not None
    assert distro_of(galactic) is None
    assert [parse_version(text) for text in ("", "jazzy", "8", "(null)")] == [None] * 4


def test_what_was_seen_chooses_the_oldest_release_that_fits() -> None:
    far = (1000, 0)
    found = [
        released_between(low, high)
        for low, high in (
            ((0, 0), (8, 0)),
            ((6, 1), far),
            ((8, 0), (8, 4)),
            ((8, 4), far),
            ((8, 5), (8, 10)),
            ((8, 10), far),
            ((9, 0), far),
        )
    ]
    assert [item.name if item else None for item in found] == [
        "humble",
        "iron",
        "jazzy",
        "kilted",
        "kilted",
        "lyrical",
        None,
    ]


def test_each_distro_is_released_with_its_own_events() -> None:
    assert [distro_of(item.released) for item in DISTROS] == list(DISTROS)
