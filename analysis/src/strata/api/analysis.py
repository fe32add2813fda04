# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The analysis of a trace as a user of Python has it: its tables, and ways to look at them."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from strata.analysis import Analysis as Tables
from strata.api.text import Text
from strata.export.written import MAX_BYTES, Written
from strata.read.manifest import title_of

if TYPE_CHECKING:
    import pandas as pd

    from strata.api.plots import Plots
    from strata.timeline import Timeline, Timelines


class Analysis(Tables):
    """All results of one trace; `strata.analyze` makes it.

    ::

        a = strata.analyze("sessions/mine")
        a.summary()              # what `strata analyze sessions/mine` prints
        a.slowest(5)             # the slowest messages, and the layer that each spent most in
        a.path(399)              # what message 399 spent its time on, step by step
        a.timeline(399).frame()  # the same over threads, with what else ran on them
        a.chains[["name", "count", "latency_p50_ns"]]
        bokeh.plotting.show(a.plot.latency())

    Each table of docs/data-model.md is an attribute of its name: `chains`, `hops`, `messages`,
    `callbacks`, `blame`, `quality` and more are pandas DataFrames, made when first asked for; text
    is of the dtype category. Times are whole nanoseconds, in columns that end in `_ns`; those of
    instants count from the Unix epoch. What null means is said for each column there.
    """

    @classmethod
    def of_results(cls, tables: Tables) -> Analysis:
        """Return the analysis with the results of another."""
        return cls(tables.results)

    @property
    def name(self) -> str:
        """Name of the session, else of the directory that was analyzed."""
        return title_of(Path(self.trace.path))

    def summary(self, *, width: int = 80) -> Text:
        """Return what `strata analyze` prints, in lines of at most `width` columns."""
        from strata.show.terminal.as_text import analysis_text

        return Text(analysis_text(self, width))

    def slowest(self, count: int = 5, *, chain: str | int | None = None) -> pd.DataFrame:
        """Return the slowest messages of a chain, the slowest first, one row per message.

        `chain` is its topics ("/a -> /b") or its `chain_id`; without it the first one, which is the
        longest and busiest. Columns: `message_id`, `latency_ns`, `begin_ns` (since the epoch),
        `since_begin_ns` (since the first event of the trace), and the layer that took most:
        `layer`, `where`, `layer_ns` and `share` of the latency (0 to 1). No row for a trace without
        chains. Raises TraceError for a chain that is not there, ValueError for a `count` below 1.
        """
        from strata.api.frames import slowest

        return slowest(self, count, chain)

    def timeline(self, message: int) -> Timeline:
        """Return one message over processes and threads, from its first publish to the end of its
        last callback: lanes, and spans whose durations add up to its latency.

        `message` is a `message_id`; `frame()` of the result gives the spans, one row per span.
        Raises TraceError for a message that is not there.
        """
        return self._timelines.of(message)

    @cached_property
    def _timelines(self) -> Timelines:
        from strata.timeline import Timelines

        return Timelines(self)

    def path(self, message: int | None = None) -> pd.DataFrame:
        """Return the critical path of a message, one row per step, in the order of time.

        It goes back from the message to the first publish, at each node along the input that came
        last. `message` is a `message_id`; without it the slowest message of the first chain.
        Columns: `hop` (from 0), `message_id` and `topic` of that hop, `layer`, `where`,
        `begin_ns` (since the epoch), `duration_ns`, `share` of the latency (0 to 1) and `behind`:
        the callbacks that it waited behind for 5 % of the step or more, as text, empty otherwise.
        The durations add up to the latency.
        Raises TraceError for a message that is not there.
        """
        from strata.api.frames import path

        return path(self, message)

    def layers_long(self) -> pd.DataFrame:
        """Return every layer of every message, one row per message and layer.

        Columns: `message_id`, `hop_id`, `topic`, `publisher_node`, `subscription_node`, `layer`
        and `duration_ns`; the layers of a message follow each other in order and add up to its
        latency. Made for `groupby`, seaborn and the like; the table `messages` holds the same with
        one column per layer.
        """
        from strata.api.frames import layers_long

        return layers_long(self)

    def export(
        self,
        to: str,
        target: str | Path,
        *,
        chain: str | int | None = None,
        begin_ns: int | None = None,
        end_ns: int | None = None,
        slowest: int | None = None,
        max_bytes: int = MAX_BYTES,
        force: bool = False,
    ) -> Written:
        """Write the analysis to `target` in a format of another program, as `strata export` does.

        `to` is the name of a format (docs/export.md). `chain` is topics ("/a -> /b") or a
        `chain_id`; `begin_ns` (included) and `end_ns` (excluded) are ns since the epoch; `slowest`
        leaves so many messages of each chain. Returns what was written: `target`, `size` in bytes,
        `counts`. Raises ValueError for a format that is not there, TraceError for such a chain,
        and OutputError when `target` cannot be written, exists (without `force`), or would become
        larger than `max_bytes`.
        """
        from strata.api.chains import chain_id_of
        from strata.export.chosen import Choice, Chosen
        from strata.export.formats import BY_NAME

        if to not in BY_NAME:
            raise ValueError(f"to is a format, one of {', '.join(BY_NAME)}: {to!r}")
        number = None if chain is None else chain_id_of(self, chain)
        chains = None if number is None else (number,)
        choice = Choice(chains, begin_ns, end_ns, slowest, max_bytes)
        return BY_NAME[to].write(Chosen(self, choice), Path(target), force=force)

    @cached_property
    def plot(self) -> Plots:
        """Figures of bokeh: `bokeh.plotting.show(a.plot.latency())`."""
        from strata.api.plots import Plots

        return Plots(self)

    def __repr__(self) -> str:
        from strata.api.representation import one_line

        return one_line(self)

    def _repr_html_(self) -> str:
        """Return the same as a small table, for notebooks."""
        from strata.api.representation import small_table

        return small_table(self)
