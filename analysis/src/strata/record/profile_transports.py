# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What a middleware profile says that messages between processes of one machine shall use.

Only shared memory of some kind is said to be meant: it may fail to be used without any error. The
names are those of `strata.schema.transports`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from xml.etree.ElementTree import Element

from strata.schema.transports import DATA_SHARING, ICEORYX, SHM, ZENOH_SHM

_BUILT_IN_WITH_SHM = ("DEFAULT", "DEFAULTv6", "SHM", "LARGE_DATA", "LARGE_DATAv6")
"""Values of Fast DDS' `builtinTransports` that use SHM between processes of one machine."""


def meant_by_xml(root: Element) -> str:
    """Return iceoryx of Cyclone DDS, data sharing or SHM of Fast DDS; empty where none is on."""
    if "true" in _texts(root, "SharedMemory", "Enable"):
        return ICEORYX
    return _meant_by_fast_dds(root)


def _meant_by_fast_dds(root: Element) -> str:
    # It takes data sharing before SHM, and SHM before sockets.
    if any(text in ("AUTOMATIC", "ON") for text in _texts(root, "data_sharing", "kind")):
        return DATA_SHARING
    built_in = {element.text for element in root.iter() if _local(element) == "builtinTransports"}
    if built_in & {*_BUILT_IN_WITH_SHM}:
        return SHM
    used = set(_texts(root, "userTransports", "transport_id"))
    for descriptor in root.iter():
        if _local(descriptor) == "transport_descriptor":
            said = {_local(part): (part.text or "").strip() for part in descriptor}
            if said.get("type") == "SHM" and said.get("transport_id") in used:
                return SHM
    return ""


def meant_by_zenoh(document: dict[str, Any]) -> str:
    """Return Zenoh's shared memory where a configuration has it on for messages of ROS 2."""
    part: Any = document
    for key in ("transport", "shared_memory"):
        part = part.get(key) if isinstance(part, dict) else None
    if not isinstance(part, dict) or not part.get("enabled"):
        return ""
    implicit = part.get("transport_optimization")
    is_off = isinstance(implicit, dict) and implicit.get("enabled") is False
    return "" if is_off else ZENOH_SHM


def _texts(root: Element, parent: str, child: str) -> Iterator[str]:
    """Give the texts of elements directly below others, by their names without a namespace."""
    for element in root.iter():
        if _local(element) == parent:
            yield from ((one.text or "").strip() for one in element if _local(one) == child)


def _local(element: Element) -> str:
    return element.tag.rpartition("}")[2]
