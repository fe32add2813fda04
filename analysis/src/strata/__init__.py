# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Strata: in which layer of a ROS 2 system did the time go?

::

    import strata

    a = strata.analyze("sessions/mine")   # a recording of `strata record`, or any LTTng trace
    print(a.summary())                    # what `strata analyze` prints
    a.slowest(5)                          # the slowest messages, as a pandas DataFrame
    a.chains, a.hops, a.messages          # the tables, as pandas DataFrames

    from bokeh.plotting import show
    show(a.plot.latency())

    print(strata.compare("sessions/before", "sessions/after"))
    strata.open("sessions/mine").sql("SELECT topic, count(*) FROM messages GROUP BY topic")

Errors are of the class `strata.StrataError`; their texts say what to do next. docs/python.md shows
more, docs/data-model.md describes every table and column.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from strata.api import Analysis, analyze, in_ms
    from strata.comparison.compared import compare
    from strata.errors import StrataError, TraceError
    from strata.schema.links import MessageLink
    from strata.sql import Opened, open  # noqa: A004

__version__ = "0.1.0"
__all__ = [
    "Analysis",
    "MessageLink",
    "Opened",
    "StrataError",
    "TraceError",
    "analyze",
    "compare",
    "in_ms",
    "open",
]

_HOME = {
    "Analysis": "strata.api",
    "MessageLink": "strata.schema.links",
    "Opened": "strata.sql",
    "StrataError": "strata.errors",
    "TraceError": "strata.errors",
    "analyze": "strata.api",
    "compare": "strata.comparison.compared",
    "in_ms": "strata.api",
    "open": "strata.sql",
}


def __getattr__(name: str) -> Any:
    """Import what is public on first use, so that `strata record` does not pay for it."""
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOME[name]), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
