# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The answer to one question: which hooks will bind in the processes of a recording?"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from strata.record.preflight.binding import (
    FASTDDS,
    MISSING,
    PARTLY,
    Binding,
    decide,
    vendor_of,
)
from strata.record.preflight.elf import Library
from strata.record.preflight.hooks import Function
from strata.record.preflight.layers import Parting, merged_without, partings, told_apart
from strata.record.preflight.libraries import users_of

# The releases of which the hook library knows where objects keep what; its real.c has the offsets.
KNOWN_RELEASES = ("libfastrtps.so.2.14", "libfastdds.so.3.2")


@dataclass(frozen=True)
class Preflight:
    """What binds in one DDS library.

    `known_release` is false when the layout of its objects is not known: then samples in histories
    and takes have no identity, those that are sent and received have. `callers` are the libraries
    of ROS 2's middleware that use it.
    """

    vendor: str
    soname: str
    library: Path
    callers: tuple[Path, ...]
    known_release: bool
    bindings: tuple[Binding, ...]
    partings: tuple[Parting, ...]

    @property
    def layers(self) -> list[str]:
        """Name the layers that can be told apart; merged ones are joined by `+`."""
        return told_apart(self.partings)

    @property
    def faults(self) -> list[Binding]:
        """List the hooks that do not bind, or only partly."""
        return [binding for binding in self.bindings if binding.status in (MISSING, PARTLY)]

    def merged_without(self, binding: Binding) -> list[str]:
        """Name the layers that merge because this hook does not bind."""
        return merged_without(binding, self.partings)

    def as_json(self) -> dict[str, Any]:
        """Give all of it, for `strata doctor --dds --format json`."""
        return {
            **self.summary(),
            "callers": [str(path) for path in self.callers],
            "hooks": [self._hook_as_json(binding) for binding in self.bindings],
        }

    def summary(self) -> dict[str, Any]:
        """Give what the manifest keeps."""
        return {
            "vendor": self.vendor,
            "soname": self.soname,
            "library": str(self.library),
            "known_release": self.known_release,
            "layers": self.layers,
            "does_not_bind": {b.function: f"{b.status}: {b.why}" for b in self.faults},
        }

    def _hook_as_json(self, binding: Binding) -> dict[str, Any]:
        return {
            **asdict(binding),
            "library": str(binding.library) if binding.library else None,
            "events_lost": list(binding.events_lost),
            "layers_merged": self.merged_without(binding),
        }


def examine(
    functions: Sequence[Function], libraries: Sequence[Library], rmw: Sequence[Library]
) -> list[Preflight]:
    """Examine each DDS library together with those of the middleware that use it."""
    return [_examine(functions, library, users_of(library, rmw)) for library in libraries]


def _examine(functions: Sequence[Function], dds: Library, callers: Sequence[Library]) -> Preflight:
    vendor = vendor_of(dds)
    assert vendor is not None
    bindings = decide(functions, dds, callers)
    return Preflight(
        vendor=vendor,
        soname=dds.soname,
        library=dds.path,
        callers=tuple(caller.path for caller in callers),
        known_release=vendor != FASTDDS or _is_known(dds.soname),
        bindings=tuple(bindings),
        partings=tuple(partings(bindings)),
    )


def _is_known(soname: str) -> bool:
    # 2.14 is not 2.140: a dot or the end must follow.
    return any(re.match(rf"{re.escape(known)}(\.|$)", soname) for known in KNOWN_RELEASES)
