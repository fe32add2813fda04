# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The answer to one question: which hooks will bind in the processes of a recording?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from strata.record.preflight.binding import (
    MISSING,
    PARTLY,
    Binding,
    decide,
    vendor_of,
)
from strata.record.preflight.elf import Library
from strata.record.preflight.hooks import Function
from strata.record.preflight.layers import (
    PARTED_BY_OVER_ICEORYX,
    Parting,
    merged_without,
    partings,
    told_apart,
)
from strata.record.preflight.libraries import users_of
from strata.record.preflight.releases import EFFECT_OF_UNKNOWN_RELEASE, is_known

_ICEORYX = "libiceoryx_"


@dataclass(frozen=True)
class Preflight:
    """What binds in one DDS library.

    `known_release` is false when the layout of its objects is not known; `note` then says what that
    costs. `callers` are the libraries of ROS 2's middleware that use it. `over_iceoryx` holds for
    messages in shared memory, if the library is built for that: else it is empty.
    """

    vendor: str
    soname: str
    library: Path
    callers: tuple[Path, ...]
    known_release: bool
    bindings: tuple[Binding, ...]
    partings: tuple[Parting, ...]
    over_iceoryx: tuple[Parting, ...] = ()

    @property
    def layers_over_iceoryx(self) -> list[str]:
        """Name the layers that can be distinguished over iceoryx; may be empty."""
        return told_apart(self.over_iceoryx) if self.over_iceoryx else []

    @property
    def layers(self) -> list[str]:
        """Name the layers that can be distinguished; merged ones are joined by `+`."""
        return told_apart(self.partings)

    @property
    def note(self) -> str | None:
        """Say what a release that is not known costs; null for a known one."""
        if self.known_release:
            return None
        effect = EFFECT_OF_UNKNOWN_RELEASE[self.vendor]
        return f"{self.soname} is a release whose object layout is not known: {effect}"

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
            "layers_over_iceoryx": self.layers_over_iceoryx,
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
    iceoryx = any(name.startswith(_ICEORYX) for name in dds.needed)
    return Preflight(
        vendor=vendor,
        soname=dds.soname,
        library=dds.path,
        callers=tuple(caller.path for caller in callers),
        known_release=is_known(dds, vendor),
        bindings=tuple(bindings),
        partings=tuple(partings(bindings)),
        over_iceoryx=tuple(partings(bindings, PARTED_BY_OVER_ICEORYX)) if iceoryx else (),
    )
