# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What carried the messages of cells, and findings where that is not what a profile means."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest
from measured_campaign import made, make_campaign

from strata.study.campaign_results import Results
from strata.study.gather_report import measured_results
from strata.study.transport_findings import transport_findings

MESSAGES, MIB = 145, 2**20
TEXT = """\
question: What carries messages?
studies:
  ways:
    question: What carries messages?
    scenario: messages
    set: {size: 1048576}
    duration: 150
    warm_up: 5
    measured: {topic: /messages}
    factors:
      transport:
        levels:
          shm: {set: {rmw.profile: fastdds_shm_large_segment}}
          udp: {set: {rmw.profile: fastdds_udp}}
"""
ICEORYX = """\
question: What carries messages?
studies:
  ways:
    question: What carries messages?
    scenario: relay_chain
    set: {relays: 3}
    duration: 500
    measured: {topic: /chain_*}
    factors:
      rate: {set: rate, levels: [100.0]}
"""


def state(session: Path, **said: object) -> None:
    """Let a session's manifest say something else of its profile."""
    path = session / "manifest.json"
    document = json.loads(path.read_text())
    document["rmw_profile"] = {**(document["rmw_profile"] or {}), **said}
    path.write_text(json.dumps(document))


def note(session: Path, **said: object) -> None:
    """Let the runner's outcome say something else."""
    path = session / "scenario" / "outcome.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **said}))


@pytest.fixture
def messages(own_sample: Callable[[str], Path]) -> dict[str, Path]:
    """Two recorded cells: one over shared memory, one over UDP."""
    return {f"ways/{way}": own_sample(f"cell_messages_{way}") for way in ("shm", "udp")}


def rows_of(results: Results) -> dict[str, dict[str, object]]:
    frame = made(results, "ways", "transports", rows="transport").frame
    return {str(row["transport"]): row for row in frame.to_dict("records")}


def test_shares_are_those_of_the_recorded_messages(
    messages: dict[str, Path], tmp_path: Path
) -> None:
    results = make_campaign(tmp_path, TEXT, messages)
    rows = rows_of(results)
    for row in rows.values():
        # A transport that carried nothing has no column, and neither has Zenoh here.
        assert set(row) == {
            "transport",
            "received",
            "meant",
            "by_udp",
            "by_shm",
            "not_recorded",
            "otherwise",
        }
        assert row["by_udp"] + row["by_shm"] + row["not_recorded"] == pytest.approx(1)
    shm, udp = rows["shm"], rows["udp"]
    # Both manifests are from before they said what is meant: the shipped profile says it.
    assert (shm["received"], shm["by_shm"], shm["meant"], shm["otherwise"]) == (
        MESSAGES,
        1,
        "SHM",
        0,
    )
    assert udp["by_udp"] == 1
    assert pd.isna(udp["meant"])
    assert list(transport_findings(results)) == []


def test_a_profile_that_was_not_followed_is_a_finding(
    messages: dict[str, Path], tmp_path: Path
) -> None:
    state(messages["ways/udp"], name="own", meant_transport="iceoryx")
    results = make_campaign(tmp_path, TEXT, messages)
    udp = rows_of(results)["udp"]
    assert (udp["meant"], udp["otherwise"]) == ("iceoryx", udp["received"])
    (found,) = transport_findings(results)
    count = udp["received"]
    assert (found.severity, found.code, found.cells) == ("warning", "other_transport", 1)
    assert found.text == (
        f"RMW profile own is meant to use iceoryx, but {count} of {count} measured messages were "
        f"carried otherwise: {count} by UDPv4"
    )
    assert "ways/udp" in found.where


def test_between_hosts_no_memory_is_shared(messages: dict[str, Path], tmp_path: Path) -> None:
    state(messages["ways/udp"], meant_transport="SHM")
    note(messages["ways/udp"], network={"hosts": ["a", "b"]})
    results = make_campaign(tmp_path, TEXT, messages)
    assert list(transport_findings(results)) == []


def test_messages_over_iceoryx(sample: Callable[[str], Path], tmp_path: Path) -> None:
    # A trace alone, without a manifest: nothing is meant.
    results = make_campaign(tmp_path, ICEORYX, {"ways/": sample("cyc_iceoryx")})
    (row,) = made(measured_results(results), "ways", "transports").frame.to_dict("records")
    assert row.keys() == {"received", "by_iceoryx", "not_recorded"}
    assert row["by_iceoryx"] == 1
    assert row["received"] > 200


@pytest.mark.parametrize(
    ("pools", "threshold", "size", "says"),
    [
        # So small a pool would not have been seen.
        ({"made": 0, "bytes": 0, "shared": 0}, 3072, MIB, None),
        ({"made": 0, "bytes": 0, "shared": 0}, 3072, 16 * MIB, "no process made a pool of it"),
        (
            {"made": 2, "bytes": 512 << 20, "shared": 0},
            3072,
            256 * MIB,
            "no process was seen to read from the pool of another (2 pools with 512 MiB)",
        ),
        ({"made": 2, "bytes": 512 << 20, "shared": 1}, 3072, 256 * MIB, None),
        # Shorter messages do not go there.
        ({"made": 2, "bytes": 512 << 20, "shared": 0}, 10 * MIB, 256 * MIB, None),
        # A run of before, of which nobody looked.
        (None, 3072, 256 * MIB, None),
    ],
)
def test_a_memory_of_zenoh_that_nobody_reads_is_a_finding(
    messages: dict[str, Path],
    tmp_path: Path,
    pools: dict[str, int] | None,
    threshold: int,
    size: int,
    says: str | None,
) -> None:
    state(
        messages["ways/udp"],
        name="zenoh_session_shm_512m",
        middleware="Zenoh",
        meant_transport="shared memory of Zenoh",
        variables={
            "ZENOH_SHM_MESSAGE_SIZE_THRESHOLD": str(threshold),
            "ZENOH_SHM_ALLOC_SIZE": str(size),
        },
    )
    outcome = json.loads((messages["ways/udp"] / "scenario/outcome.json").read_text())
    resources = {
        **outcome["resources"],
        **({"zenoh_pools": {**pools, "least_bytes": 2 * MIB}} if pools else {}),
    }
    note(messages["ways/udp"], resources=resources)
    results = make_campaign(tmp_path, TEXT, {"ways/udp": messages["ways/udp"]})
    row = rows_of(results)["udp"]
    if pools:
        assert (row["pools"], row["shared_pools"]) == (pools["bytes"] / MIB, pools["shared"])
    else:
        assert "pools" not in row
    found = [one for one in transport_findings(results) if one.code == "unused_shared_memory"]
    assert [one.cells for one in found] == ([1] if says else [])
    if says:
        assert says in found[0].text
