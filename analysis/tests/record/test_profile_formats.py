# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The shipped profiles against what reads them: schemas, and the middleware itself."""

from __future__ import annotations

import ctypes
import re
import sys
import tomllib
from pathlib import Path

import json5
import pytest
import xmlschema
from lttng_world import ROOT

from strata.errors import SessionError
from strata.record.profiles import load_profile
from strata.record.ros import WHEELS, Ros

RMW = ROOT / "trace_configs/rmw"
SCHEMAS = [Path(sys.prefix, "share/fastRTPS_profiles.xsd"), *Path("/opt/ros").glob("*/share/*.xsd")]
LIBRARIES = ["libddsc.so.0debian", "libddsc.so.0"]


@pytest.mark.parametrize("file", sorted(RMW.glob("fastdds_*.xml")), ids=lambda file: file.stem)
def test_fast_dds_profiles_fit_the_installed_schema(file: Path) -> None:
    schema = next((path for path in SCHEMAS if "fast" in path.name and path.exists()), None)
    if schema is None:
        pytest.skip("no Fast DDS with its schema is installed")
    checker = xmlschema.XMLSchema(schema)
    # The two releases name their namespaces apart; their parser looks at neither.
    text = file.read_text().replace("http://www.eprosima.com", checker.target_namespace, 1)
    checker.validate(text)
    # Else the line above would say nothing.
    with pytest.raises(xmlschema.XMLSchemaValidationError, match="participent"):
        checker.validate(text.replace("participant", "participent"))


def cyclone() -> ctypes.CDLL:
    for name in LIBRARIES:
        try:
            return ctypes.CDLL(name)
        except OSError:
            continue
    pytest.skip("no Cyclone DDS is installed")


def accepts(library: ctypes.CDLL, text: str, domain: int) -> bool:
    """Have Cyclone DDS make a domain of a configuration; it refuses what it does not know."""
    made: int = library.dds_create_domain(domain, text.encode())
    if made > 0:
        library.dds_delete(made)
    return made > 0


@pytest.mark.parametrize(
    "name", ["cyclonedds_default", "cyclonedds_large_buffer", "cyclonedds_campaign"]
)
def test_cyclone_dds_takes_its_profiles(name: str) -> None:
    library = cyclone()
    text = (RMW / f"{name}.xml").read_text()
    assert accepts(library, text, 91)
    # Else the assertion above would say nothing.
    assert not accepts(library, text.replace("WhcHigh", "WhcHuge"), 92)


def test_cyclone_dds_knows_all_of_the_iceoryx_profile_but_iceoryx() -> None:
    library = cyclone()
    text = (RMW / "cyclonedds_iceoryx.xml").read_text()
    begin, end = text.index("<SharedMemory>"), text.index("</SharedMemory>")
    assert accepts(library, text[:begin] + text[end + len("</SharedMemory>") :], 93)


def test_the_memory_of_roudi_has_chunks_for_large_messages() -> None:
    document = tomllib.loads((RMW / "roudi_config.toml").read_text())
    assert document["general"]["version"] == 1
    pools = document["segment"][0]["mempool"]
    sizes = [pool["size"] for pool in pools]
    assert sizes == sorted(sizes)
    assert all(size % 32 == 0 for size in sizes)
    # The images of a 4K camera, in colour.
    assert sizes[-1] > 3840 * 2160 * 3
    assert sum(pool["size"] * pool["count"] for pool in pools) < 2 << 30


def test_shared_memory_of_zenoh_is_on_where_it_must_be() -> None:
    def on(name: str) -> bool:
        document = json5.loads((RMW / f"{name}.json5").read_text())
        return bool(document["transport"]["shared_memory"]["enabled"])

    states = {file.stem: on(file.stem) for file in RMW.glob("zenoh_*.json5")}
    assert {name for name, is_on in states.items() if not is_on} == {"zenoh_session"}
    assert "zenoh_router" in states


@pytest.mark.parametrize(
    ("variant", "size"),
    [("", 256 << 20), ("_48m", 48 << 20), ("_512m", 512 << 20), ("_1452m", 1_452_032_000)],
)
def test_the_size_of_zenohs_memory_is_told_in_both_ways(variant: str, size: int) -> None:
    name = f"zenoh_session_shm{variant}"
    profile = load_profile(name)
    assert (profile.name, profile.file) == (name, RMW / "zenoh_session_shm.json5")
    variables = profile.variables({}, None)
    assert variables["ZENOH_SHM_ALLOC_SIZE"] == str(size)
    assert variables["ZENOH_SHM_MESSAGE_SIZE_THRESHOLD"] == "3072"
    place = "transport/shared_memory/transport_optimization/pool_size"
    assert variables.get("ZENOH_CONFIG_OVERRIDE") == (f"{place}={size}" if variant else None)
    assert load_profile(f"{RMW}/{name}.json5") == profile
    # The router keeps its own configuration.
    assert profile.broker is not None
    assert dict(profile.broker.fixed) == (
        {"ZENOH_CONFIG_OVERRIDE": 'mode="router"'} if variant else {}
    )


@pytest.mark.parametrize(
    ("variant", "images", "most"),
    [("_256m", 10, 256 << 20), ("_512m", 20, 512 << 20), ("_1452m", 55, 1_452_032_000)],
)
def test_iceoryx_has_a_memory_of_so_many_large_images(variant: str, images: int, most: int) -> None:
    profile = load_profile(f"cyclonedds_iceoryx{variant}")
    assert (profile.name, profile.file.name) == (
        f"cyclonedds_iceoryx{variant}",
        "cyclonedds_iceoryx.xml",
    )
    assert profile.broker is not None
    *monitoring, option, file = profile.broker.arguments
    assert monitoring == ["-m", "off"]
    assert (option, Path(file).name) == ("-c", f"roudi_config{variant}.toml")
    (segment,) = tomllib.loads(Path(file).read_text())["segment"]
    pools = {pool["size"]: pool["count"] for pool in segment["mempool"]}
    assert [size % 32 for size in pools] == [0] * len(pools)
    assert sum(count for size, count in pools.items() if size >= 3840 * 2160 * 3) == images
    total = sum(size * count for size, count in pools.items())
    assert 0.95 * most < total <= most
    # The file says what it is.
    assert f"{total:,}".replace(",", " ") in Path(file).read_text()


def test_a_daemons_configuration_must_be_there(tmp_path: Path) -> None:
    (tmp_path / "own.xml").write_text((RMW / "cyclonedds_iceoryx.xml").read_text())
    (tmp_path / "plain.xml").write_text((RMW / "cyclonedds_default.xml").read_text())
    (tmp_path / "roudi.toml").write_text("")
    variants = tmp_path / "variants.yaml"
    variants.write_text(
        "large: {as: own, roudi: roudi.toml}\nnone: {as: own, roudi: none.toml}\n"
        "udp: {as: plain, roudi: roudi.toml}\n"
    )
    broker = load_profile(str(tmp_path / "large.xml")).broker
    assert broker is not None
    assert broker.arguments[-2:] == ("-c", str(tmp_path / "roudi.toml"))
    with pytest.raises(SessionError, match=r"none\.toml, which .* names: no such file"):
        load_profile(str(tmp_path / "none.xml"))
    with pytest.raises(SessionError, match="plain uses no shared memory"):
        load_profile(str(tmp_path / "udp.xml"))


def test_a_variant_beside_a_profile_of_ones_own(tmp_path: Path) -> None:
    text = (RMW / "zenoh_session_shm.json5").read_text()
    (tmp_path / "own.json5").write_text(text)
    variants = tmp_path / "variants.yaml"
    variants.write_text("own_large: {as: own, set: {transport/link/rx/buffer_size: 1000000}}")
    profile = load_profile(str(tmp_path / "own_large.json5"))
    assert (profile.name, profile.file) == ("own_large", tmp_path / "own.json5")
    override = profile.variables({}, None)["ZENOH_CONFIG_OVERRIDE"]
    assert override == "transport/link/rx/buffer_size=1000000"
    with pytest.raises(SessionError, match="ZENOH_CONFIG_OVERRIDE is already set to a=1"):
        profile.environment({"ZENOH_CONFIG_OVERRIDE": "a=1"}, None)
    variants.write_text("own_large: {as: own, set: {transport/nothing: 1}}")
    with pytest.raises(SessionError, match=r"it has no 'transport/nothing', which variants\.yaml"):
        load_profile(str(tmp_path / "own_large.json5"))
    variants.write_text("own_large: {as: own}")
    with pytest.raises(SessionError, match="'own_large' has not the keys as and set"):
        load_profile(str(tmp_path / "own_large.json5"))


def test_another_size_of_zenohs_memory_is_refused() -> None:
    with pytest.raises(SessionError, match="ZENOH_SHM_ALLOC_SIZE is already set to 1, but the"):
        load_profile("zenoh_session_shm").environment({"ZENOH_SHM_ALLOC_SIZE": "1"}, None)


def test_the_larger_segments_differ_in_their_size_alone() -> None:
    large, larger = (
        re.sub(r"(?s)<!--.*?-->", "", (RMW / f"fastdds_shm_{name}.xml").read_text())
        for name in ("large_segment", "segment_256m")
    )
    grown = large.replace(str(16 << 20), str(256 << 20)).replace("large_segment", "segment_256m")
    assert grown == larger != large


@pytest.mark.parametrize(
    ("name", "variable"),
    [
        ("zenoh_session", "ZENOH_SESSION_CONFIG_URI"),
        ("zenoh_router", "ZENOH_ROUTER_CONFIG_URI"),
    ],
)
def test_zenoh_is_told_by_the_variables_that_it_reads(
    tmp_path: Path, name: str, variable: str
) -> None:
    library = tmp_path / "lib/librmw_zenoh_cpp.so"
    library.parent.mkdir()
    library.touch()
    base = {"AMENT_PREFIX_PATH": str(tmp_path)}
    profile = load_profile(name)
    made = profile.environment(base, Ros(WHEELS, "jazzy", tmp_path, ()))
    added = {key: value for key, value in made.items() if key not in base}
    assert added == {"RMW_IMPLEMENTATION": "rmw_zenoh_cpp", variable: str(RMW / f"{name}.json5")}


def test_what_is_no_profile_of_zenoh_is_refused(tmp_path: Path) -> None:
    broken, other = tmp_path / "a.json5", tmp_path / "b.json5"
    broken.write_text("{ mode: ")
    other.write_text("{ mode: 'ghost' }")
    with pytest.raises(SessionError, match=r"Cannot read profile .*a\.json5: .*Give"):
        load_profile(str(broken))
    with pytest.raises(SessionError, match=r"its mode is 'ghost', not one of peer"):
        load_profile(str(other))
