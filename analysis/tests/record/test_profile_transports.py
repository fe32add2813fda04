# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What the shipped profiles, and others, are meant to use."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import pytest
from lttng_world import ROOT

from strata.record.places import shipped_files
from strata.record.profile_transports import meant_by_xml, meant_by_zenoh
from strata.record.profiles import load_profile
from strata.yaml_document import parse_yaml

NO_SHARED_MEMORY = {
    "fastdds_udp",
    "fastdds_udp_small_buffers",
    "fastdds_udp_two_hosts",
    "fastdds_tcp",
    "cyclonedds_default",
    "cyclonedds_large_buffer",
    "cyclonedds_campaign",
    "zenoh_session",
}


def shipped() -> list[str]:
    files = [path.stem for path in shipped_files("rmw", ".xml", ".json5")]
    variants = parse_yaml((ROOT / "trace_configs/rmw/variants.yaml").read_text())
    return [*files, *variants]


def expected(name: str) -> str:
    """By the name, which the README's table explains."""
    if name in NO_SHARED_MEMORY:
        return ""
    if name == "fastdds_data_sharing":
        return "data sharing"
    middleware = name.partition("_")[0]
    return {
        "fastdds": "SHM",
        "cyclonedds": "iceoryx",
        "zenoh": "shared memory of Zenoh",
    }[middleware]


@pytest.mark.parametrize("name", [one for one in shipped() if one != "zenoh_router"])
def test_shipped_profiles_mean_what_their_name_says(name: str) -> None:
    profile = load_profile(name)
    assert profile.meant == expected(name)
    said = profile.as_json(dict.fromkeys(profile.variables({}, None), ""), None)
    assert said["meant_transport"] == (expected(name) or None)


@pytest.mark.parametrize(
    ("inside", "meant"),
    [
        ("<builtinTransports>DEFAULT</builtinTransports>", "SHM"),
        ("<builtinTransports>UDPv4</builtinTransports>", ""),
        ("<data_sharing><kind>OFF</kind></data_sharing>", ""),
        ("<data_sharing><kind> ON </kind></data_sharing>", "data sharing"),
        # Described, but not used.
        (
            "<transport_descriptor><transport_id>a</transport_id><type>SHM</type>"
            "</transport_descriptor>",
            "",
        ),
    ],
)
def test_what_a_profile_of_fast_dds_means(inside: str, meant: str) -> None:
    assert meant_by_xml(ElementTree.fromstring(f"<profiles>{inside}</profiles>")) == meant


def test_a_variant_may_turn_zenohs_memory_off(tmp_path: Path) -> None:
    text = (ROOT / "trace_configs/rmw/zenoh_session_shm.json5").read_text()
    (tmp_path / "own.json5").write_text(text)
    (tmp_path / "variants.yaml").write_text(
        "own_off: {as: own, set: {transport/shared_memory/enabled: false}}"
    )
    assert load_profile(str(tmp_path / "own.json5")).meant == "shared memory of Zenoh"
    assert load_profile(str(tmp_path / "own_off.json5")).meant == ""


def test_a_document_of_another_form_means_nothing() -> None:
    for document in ({}, {"transport": 1}, {"transport": {"shared_memory": [True]}}):
        assert meant_by_zenoh(document) == ""
