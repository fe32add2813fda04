# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Which publications, executions and calls belong to what was chosen, as flags of their tables."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from strata.export.chosen import Chosen
from strata.export.chosen_events import ChosenEvents
from strata.schema.events import INTERNAL_TOPICS
from strata.schema.rows import NONE, Flags, Ints, Rows


class ChosenRows:
    """What the graph is made of: tables, and which of their rows were chosen.

    Messages, publishers and subscriptions of internal topics are left out.
    """

    def __init__(self, chosen: Chosen) -> None:
        """Take what was chosen; tables are read when they are needed."""
        self._chosen = chosen
        self._events = ChosenEvents(chosen)
        self.everything = chosen.choice.is_everything

    def rows(self, name: str) -> Rows:
        """Return a whole table."""
        return self._chosen.analysis.rows(name)

    @cached_property
    def messages(self) -> Flags:
        """Rows of `messages`."""
        rows = self.rows("messages")
        flags = np.zeros(len(rows), bool)
        flags[self._chosen.messages] = True
        return flags & ~rows.words("topic").are(*INTERNAL_TOPICS)

    @cached_property
    def executions(self) -> Flags:
        """Rows of `callback_instances`."""
        return self._events.executions

    @cached_property
    def publications(self) -> Flags:
        """Rows of `publications`."""
        return self._chosen.publications

    @cached_property
    def calls(self) -> Flags:
        """Rows of `service_calls`: with messages chosen, those that their callbacks made."""
        return self._chosen.calls

    @cached_property
    def links(self) -> Flags:
        """Rows of `links`."""
        rows = self.rows("links")
        flags = self.messages
        return np.asarray(flags[rows["child_id"]] & flags[rows["parent_id"]], bool)

    def callback_of(self, instance: Ints) -> Ints:
        """Return the callback of each execution; null for null."""
        column = self.rows("callback_instances")["callback_id"]
        return np.append(column, NONE)[self._row_of(instance)]

    def start_of(self, instance: Ints) -> Ints:
        """Return the start of each execution, ns since the epoch; null for null."""
        column = self.rows("callback_instances")["start_ns"]
        return np.append(column, NONE)[self._row_of(instance)]

    def _row_of(self, instance: Ints) -> Ints:
        """Return the row of each execution in `callback_instances`; null for null."""
        return self._rows_of_instances[instance]

    @cached_property
    def _rows_of_instances(self) -> Ints:
        number = self.rows("callback_instances")["instance_id"]
        # Null is -1, which is the last of these.
        rows = np.full(int(number.max(initial=NONE)) + 2, NONE, np.int64)
        rows[number] = np.arange(len(number))
        return rows
