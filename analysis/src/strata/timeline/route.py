# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The route of a message: the messages before it, back to the first publish, and their links."""

from __future__ import annotations

from dataclasses import dataclass

from strata.errors import TraceError
from strata.schema.rows import NONE
from strata.timeline.columns import Kept, RowsOf


@dataclass(frozen=True)
class Route:
    """`messages` (rows of the table) from the first published on, `links` between each two."""

    messages: tuple[int, ...]
    links: tuple[int, ...]


class Routes:
    """Routes through the tables `messages` and `links`."""

    def __init__(self, messages: Kept, links: Kept) -> None:
        self._messages, self._links = messages, links
        self._of_child = RowsOf(links.rows["child_id"])

    def critical(self, message: int) -> Route:
        """Return the route back along the cause that was there last (strata.stats.path)."""
        path, links = [message], list[int]()
        hops = {self._messages.number("hop_id", message)}
        while (link := self._critical_link(path[-1])) != NONE:
            parent = self._links.number("parent_id", link)
            hop = self._messages.number("hop_id", parent)
            if hop in hops:
                # Back at a hop of the route (a cycle): chains begin there too.
                break
            hops.add(hop)
            path.append(parent)
            links.append(link)
        return Route(tuple(path[::-1]), tuple(links[::-1]))

    def _critical_link(self, child: int) -> int:
        own = self._of_child.of(child)
        return next((link for link in own if self._links.number("critical", link)), NONE)

    def of_chain(self, message: int, topics: tuple[str, ...], begin_ns: int) -> Route:
        """Return the route over a chain's topics that began at an instant.

        Raises TraceError where there is none.
        """
        found = self._back(message, topics, begin_ns)
        if found is None:
            raise TraceError(
                f"Cannot show message {message} as one of {' -> '.join(topics)}: no messages link "
                "it to a publish at that chain's begin. Ask for the message without a chain."
            )
        return Route(found[0][::-1], found[1][::-1])

    def _back(
        self, message: int, topics: tuple[str, ...], begin_ns: int
    ) -> tuple[tuple[int, ...], tuple[int, ...]] | None:
        if self._messages.text("topic", message) != topics[-1]:
            return None
        if len(topics) == 1:
            begins = self._messages.number("begin_ns", message) == begin_ns
            return ((message,), ()) if begins else None
        for link in self._of_child.of(message):
            parent = self._links.number("parent_id", link)
            found = self._back(parent, topics[:-1], begin_ns)
            if found is not None:
                return (message, *found[0]), (link, *found[1])
        return None
