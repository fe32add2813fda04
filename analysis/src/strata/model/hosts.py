# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""By which clock each event is timed: that of its machine.

Times of two machines are not comparable: how far their clocks are apart is not known, and may be
far more than a message takes. Directories of one boot of a machine have one clock, whatever host
name they carry (containers have names of their own).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from strata.model.columns import Ints, Processes
from strata.read.namespaces import machine_of

Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class HostClocks:
    """The clock of each thread's and process' machine, as a dense number."""

    of_thread: Ints
    of_process: Ints

    def differ(self, first: Ints, second: Ints) -> Flags:
        """Tell for pairs of threads whether their times are of two clocks."""
        if not self.of_process.any():
            return np.zeros(len(first), bool)
        return np.asarray(self.of_thread[first] != self.of_thread[second], bool)


def number_clocks(processes: Processes, clocks: Mapping[str, str]) -> HostClocks:
    """Number the clocks; `clocks` gives that of each host, a host that it lacks has its own."""
    machines = [machine_of(host) for host in processes.host]
    names = [clocks.get(machine, machine) for machine in machines]
    number = {name: row for row, name in enumerate(dict.fromkeys(names))}
    of_process = np.array([number[name] for name in names], np.int64)
    return HostClocks(of_process[processes.thread_process], of_process)
