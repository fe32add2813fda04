# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""How long threads ran and waited for a CPU, as a declared table."""

from __future__ import annotations

import numpy as np
import pandas as pd

from strata.model.build import Model
from strata.model.columns import NONE
from strata.model.frames import nullable
from strata.schema import tables


def thread_cpu_frame(model: Model) -> pd.DataFrame:
    """Return the table `thread_cpu`."""
    if not model.cpu.known:
        return tables.THREAD_CPU.empty()
    windows = pd.DataFrame(vars(model.cpu.windows))
    grouped = windows.groupby("thread")
    sums = pd.DataFrame(
        {
            "begin_ns": grouped["end_ns"].first(),
            "end_ns": grouped["end_ns"].last(),
            "on_cpu_ns": grouped["cpu_ns"].sum(),
            "cpu_wait_ns": grouped["wait_ns"].sum(),
            "slices": grouped["slices"].sum(),
            "longest_wait_ns": grouped["wait_ns"].max(),
        }
    )
    threads = model.cpu.threads.merge(sums, left_on="number", right_index=True)
    wanted = threads["on_cpu_ns"] + threads["cpu_wait_ns"]
    share = threads["cpu_wait_ns"] / wanted.where(wanted > 0)
    own = threads.drop(columns=["pid", "tid", "model_thread", "number"])
    return tables.THREAD_CPU.frame(
        own.assign(
            thread_cpu_id=np.arange(len(threads)),
            process_id=_processes(model, threads["vpid"]),
            wait_share=share,
        )
    )


def _processes(model: Model, vpid: pd.Series[int]) -> pd.Series[int]:
    """Return the process of the trace with each id, null where there is none, or several."""
    known = pd.Series(model.events.processes.vpid)
    only = known[~known.duplicated(keep=False)]
    numbers = pd.Series(only.index, index=only.to_numpy())
    found = numbers.reindex(vpid.to_numpy(), fill_value=NONE).to_numpy(np.int64)
    return nullable(found).set_axis(vpid.index)
