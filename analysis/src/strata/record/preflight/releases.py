# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The releases of which the hook library knows how objects are laid out, and what others lose.

Its sources hold the layouts; a test holds this table against them.
"""

from __future__ import annotations

from strata.record.preflight.elf import Library

FASTDDS = "fastdds"
CYCLONEDDS = "cyclonedds"

# Beginnings of the SONAME.
FASTDDS_RELEASES = ("libfastrtps.so.2.14", "libfastdds.so.3.2")
# In the name of the file behind all links: the SONAME of 0.7 and of 0.10 is the same.
CYCLONEDDS_RELEASES = (".so.0.10.", ".so.11.")

# What is lost with the layout, though the hooks bind; nothing of Fast DDS.
EVENTS_OF_KNOWN_RELEASES = {
    FASTDDS: frozenset[str](),
    CYCLONEDDS: frozenset(
        (
            "serialize_begin",
            "serialize_end",
            "deserialize_begin",
            "deserialize_end",
            "reader_history_add",
        )
    ),
}
EFFECT_OF_UNKNOWN_RELEASE = {
    FASTDDS: "samples in histories and takes are not identified; those sent and received are",
    CYCLONEDDS: "serialization and readers' histories are not traced; everything else is",
}


def is_known(library: Library, vendor: str) -> bool:
    """Return whether a DDS library is of a release whose layouts are known."""
    if vendor == CYCLONEDDS:
        name = library.path.resolve().name
        at = name.find(".so.")
        return at >= 0 and name[at:].startswith(CYCLONEDDS_RELEASES)
    # 2.14 is not 2.140: a dot or the end must follow.
    return f"{library.soname}.".startswith(tuple(f"{known}." for known in FASTDDS_RELEASES))
