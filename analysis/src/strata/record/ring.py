# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Ring buffers that always record: the newest events overwrite the oldest, and none is written.

What they hold is read by snapshots (LTTng's snapshot mode). Each snapshot ends the sub-buffer that
is being filled, so there are many: a ring that is looked at every two seconds has to reach back
over several looks.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from strata.errors import SessionError
from strata.record.config import SessionConfig
from strata.units import format_size

SUB_BUFFERS = 16
"""Of each CPU."""
_SMALLEST = 64 << 10
RING = ".ring"
"""The recorder's own directory in that of a guard: nothing in it is of use without the recorder."""


@dataclass(frozen=True)
class Ring:
    """How much memory the ring buffers of all CPUs take together, in bytes."""

    memory: int = 128 << 20

    def config(self, config: SessionConfig, cpus: int) -> SessionConfig:
        """Return a session configuration whose events go to ring buffers; of the user, not of each
        process, as what a process did is wanted after its end, too.

        Raises SessionError when the memory is too little.
        """
        each = self.memory // cpus // SUB_BUFFERS
        if each < _SMALLEST:
            raise SessionError(
                f"Cannot record into ring buffers of {format_size(self.memory)}: the minimum on "
                f"{cpus} CPUs is {format_size(_SMALLEST * SUB_BUFFERS * cpus)}. Raise ring.memory."
            )
        channel = replace(
            config.channel,
            subbuf_size=1 << (each.bit_length() - 1),
            num_subbuf=SUB_BUFFERS,
            switch_timer=0,
            read_timer=0,
            mode="overwrite",
        )
        return replace(config, channel=channel, buffers="per-uid", kernel=())
