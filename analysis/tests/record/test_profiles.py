# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Middleware profiles: the files that ship, and the variables that make a middleware use one."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest
from lttng_world import ROOT, World

from strata.errors import SessionError
from strata.record.profiles import CYCLONE_DDS, FAST_DDS, ZENOH, load_profile
from strata.record.ros import WHEELS, Ros

RMW = ROOT / "trace_configs/rmw"
SHIPPED = sorted([*RMW.glob("*.xml"), *RMW.glob("*.json5")])
FAMILIES = {"fastdds": FAST_DDS, "cyclonedds": CYCLONE_DDS, "zenoh": ZENOH}


def installed(tmp_path: Path, distro: str, *libraries: str) -> tuple[Ros, dict[str, str]]:
    """A ROS 2 with those rmw libraries, and its environment."""
    for name in libraries:
        library = tmp_path / "lib" / f"lib{name}.so"
        library.parent.mkdir(exist_ok=True)
        library.touch()
    return Ros(WHEELS, distro, tmp_path, ()), {"AMENT_PREFIX_PATH": str(tmp_path)}


@pytest.mark.parametrize("file", SHIPPED, ids=lambda file: file.stem)
def test_a_shipped_profile_is_found_by_name_and_by_path(file: Path) -> None:
    profile = load_profile(file.stem)
    assert profile == load_profile(str(file)) == load_profile(file.name)
    assert profile.name == file.stem
    assert profile.sha256 == hashlib.sha256(file.read_bytes()).hexdigest()
    assert profile.middleware == FAMILIES[file.stem.partition("_")[0]]


@pytest.mark.parametrize("file", SHIPPED, ids=lambda file: file.stem)
def test_every_shipped_profile_is_listed_with_its_question(file: Path) -> None:
    assert f"| `{file.stem}` |" in (ROOT / "trace_configs/rmw/README.md").read_text()


@pytest.mark.parametrize(
    ("distro", "variables"),
    [
        ("humble", {"FASTRTPS_DEFAULT_PROFILES_FILE"}),
        ("jazzy", {"FASTRTPS_DEFAULT_PROFILES_FILE"}),
        ("kilted", {"FASTDDS_DEFAULT_PROFILES_FILE"}),
        ("unknown", {"FASTRTPS_DEFAULT_PROFILES_FILE", "FASTDDS_DEFAULT_PROFILES_FILE"}),
    ],
)
def test_the_file_is_named_to_the_fast_dds_of_the_distribution(
    tmp_path: Path, distro: str, variables: set[str]
) -> None:
    ros, base = installed(tmp_path, distro, "rmw_fastrtps_cpp")
    profile = load_profile("fastdds_udp")
    environment = profile.environment(base, ros)
    assert {name for name in environment if name.endswith("PROFILES_FILE")} == variables
    assert {environment[name] for name in variables} == {str(profile.file)}
    assert environment["ROS_AUTOMATIC_DISCOVERY_RANGE"] == "SYSTEM_DEFAULT"
    assert environment["RMW_IMPLEMENTATION"] == "rmw_fastrtps_cpp"
    assert "RMW_FASTRTPS_USE_QOS_FROM_XML" not in environment


def test_qos_is_taken_from_a_profile_that_has_what_the_rmw_overwrites() -> None:
    environment = load_profile("fastdds_data_sharing").environment({}, None)
    assert environment["RMW_FASTRTPS_USE_QOS_FROM_XML"] == "1"


def test_a_profile_of_endpoints_leaves_the_discovery_alone(tmp_path: Path) -> None:
    file = tmp_path / "mine.xml"
    file.write_text(
        "<dds><profiles><data_writer profile_name='/a'><qos><reliability>"
        "<kind>BEST_EFFORT</kind></reliability></qos></data_writer></profiles></dds>"
    )
    base = {"ROS_AUTOMATIC_DISCOVERY_RANGE": "LOCALHOST"}
    environment = load_profile(str(file)).environment(base, None)
    assert environment["ROS_AUTOMATIC_DISCOVERY_RANGE"] == "LOCALHOST"
    assert "RMW_FASTRTPS_USE_QOS_FROM_XML" not in environment


@pytest.mark.parametrize(
    ("profile", "base", "says"),
    [
        (
            "fastdds_udp",
            {"ROS_AUTOMATIC_DISCOVERY_RANGE": "LOCALHOST"},
            "ROS_AUTOMATIC_DISCOVERY_RANGE is LOCALHOST, with which rmw_fastrtps adds its own SHM",
        ),
        ("fastdds_tcp", {"ROS_LOCALHOST_ONLY": "1"}, "ROS_LOCALHOST_ONLY is 1, with which"),
        (
            "fastdds_large_data",
            {"FASTDDS_BUILTIN_TRANSPORTS": "UDPv4"},
            "FASTDDS_BUILTIN_TRANSPORTS is set to UDPv4, which has no effect together with",
        ),
        (
            "fastdds_data_sharing",
            {"RMW_FASTRTPS_PUBLICATION_MODE": "ASYNCHRONOUS"},
            "RMW_FASTRTPS_PUBLICATION_MODE is set to ASYNCHRONOUS, which has no effect",
        ),
        (
            "fastdds_data_sharing",
            {"RMW_FASTRTPS_USE_QOS_FROM_XML": "0"},
            "RMW_FASTRTPS_USE_QOS_FROM_XML is already set to 0, but the profile needs 1",
        ),
        (
            "fastdds_shm",
            {"FASTRTPS_DEFAULT_PROFILES_FILE": "/other.xml"},
            "FASTRTPS_DEFAULT_PROFILES_FILE is already set to /other.xml",
        ),
        (
            "fastdds_shm",
            {"RMW_IMPLEMENTATION": "rmw_zenoh_cpp"},
            "RMW_IMPLEMENTATION is rmw_zenoh_cpp, but this is a profile for Fast DDS",
        ),
        (
            "cyclonedds_default",
            {"CYCLONEDDS_URI": "<c/>"},
            "CYCLONEDDS_URI is already set to <c/>",
        ),
    ],
)
def test_a_variable_that_contradicts_is_refused(
    profile: str, base: dict[str, str], says: str
) -> None:
    with pytest.raises(SessionError) as refused:
        load_profile(profile).environment(base, None)
    text = str(refused.value)
    assert text.startswith(f"Cannot use profile {profile}: {says}")
    assert f"nset {next(iter(base))}" in text


def test_a_variable_that_says_the_same_is_no_contradiction() -> None:
    profile = load_profile("fastdds_udp")
    base = {
        "FASTRTPS_DEFAULT_PROFILES_FILE": str(profile.file.parent / "." / profile.file.name),
        "RMW_IMPLEMENTATION": "rmw_fastrtps_dynamic_cpp",
        "ROS_AUTOMATIC_DISCOVERY_RANGE": "SUBNET",
    }
    environment = profile.environment(base, None)
    assert environment["RMW_IMPLEMENTATION"] == "rmw_fastrtps_dynamic_cpp"
    assert environment["ROS_AUTOMATIC_DISCOVERY_RANGE"] == "SUBNET"


def test_cyclone_is_told_by_its_own_variable(tmp_path: Path) -> None:
    profile = load_profile("cyclonedds_default")
    ros, base = installed(tmp_path, "jazzy", "rmw_fastrtps_cpp", "rmw_cyclonedds_cpp")
    base["ROS_AUTOMATIC_DISCOVERY_RANGE"] = "LOCALHOST"
    environment = profile.environment(base, ros)
    assert environment.items() - base.items() == {
        ("RMW_IMPLEMENTATION", "rmw_cyclonedds_cpp"),
        ("CYCLONEDDS_URI", f"file://{profile.file}"),
    }


def test_a_middleware_that_is_not_installed_is_told(tmp_path: Path) -> None:
    ros, base = installed(tmp_path, "jazzy", "rmw_fastrtps_cpp")
    with pytest.raises(SessionError, match=r"ROS 2 jazzy has a librmw_cyclonedds_cpp\.so"):
        load_profile("cyclonedds_default").environment(base, ros)


def test_an_unknown_profile_is_told_with_those_that_ship() -> None:
    with pytest.raises(
        SessionError, match=r"(?s)Shipped: cyclonedds_campaign, .*fastdds_\w+ and \d+ more"
    ):
        load_profile("no_such")


@pytest.mark.live
def test_the_command_line_refuses_before_anything_is_started(
    world: World, tick: Path, tmp_path: Path
) -> None:
    world.environment["ROS_AUTOMATIC_DISCOVERY_RANGE"] = "LOCALHOST"
    target = tmp_path / "rec"
    done = world.record("--rmw-profile", "fastdds_udp", "-o", target, "--", tick, "1")
    assert done.returncode == 125
    assert done.stderr == (
        "strata: Cannot use profile fastdds_udp: ROS_AUTOMATIC_DISCOVERY_RANGE is LOCALHOST, "
        "with which rmw_fastrtps adds its own SHM and UDPv4 transports to those of the profile. "
        "Unset ROS_AUTOMATIC_DISCOVERY_RANGE; the profile sets the discovery range.\n"
    )
    assert not target.exists()


@pytest.mark.parametrize(
    ("content", "says"),
    [("<dds>", "no element found"), ("<config/>", "its root element is <config>, not one of")],
)
def test_a_file_that_is_no_profile_is_refused(tmp_path: Path, content: str, says: str) -> None:
    file = tmp_path / "bad.xml"
    file.write_text(content)
    with pytest.raises(SessionError, match=says):
        load_profile(str(file))
