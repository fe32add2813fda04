# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What the traced nodes wrote down themselves, beside what an analysis found.

A row of a node's log names the process, the thread, an event and the stamp of the message
(`src_mono_ns`, set once by its source and carried along). A callback's first line lies inside its
execution; a line before a publish lies before the publication that follows it on its thread.
"""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from strata.analysis import Analysis
from strata.read import open_trace

UPSTREAM = {
    "relay_0": "source",
    "relay_1": "relay_0",
    "relay_2": "relay_1",
    "sink": "relay_2",
    "img_sub": "img_pub",
    "pc_sub": "pc_pub",
    "subs/fast": "pubs/fast",
    "subs/slow": "pubs/slow",
    "fusion/fast": "pubs/fast",
    "fusion/slow": "pubs/slow",
    "fusedsink/fused": "fusion/fused",
    "throws": "pubs/fast",
}
"""Who published what a node's callback got."""


def stamps(directory: Path) -> pd.DataFrame:
    """Read all logs: node, pid, tid, event, seq, ns and src_ns by the trace's clock."""
    parts = [pd.read_csv(path) for path in sorted((directory / "truth").glob("*.csv"))]
    rows = pd.concat(parts, ignore_index=True)
    (offset,) = set(open_trace(directory).clock_offsets_ns.values())
    rows["ns"] = rows["t_mono_ns"] + offset
    rows["src_ns"] = rows["src_mono_ns"] + offset
    rows["event"] = rows["event"].str.split().str[0]
    return rows[["node", "pid", "tid", "event", "seq", "ns", "src_ns"]].sort_values("ns")


def executions(analysis: Analysis, rows: pd.DataFrame) -> pd.DataFrame:
    """Return each cb_start row with the execution whose begin is the last before it."""
    found = analysis.callback_instances.rename(columns={"vpid": "pid", "vtid": "tid"})
    return pd.merge_asof(
        rows[rows["event"] == "cb_start"],
        found.sort_values("start_ns"),
        left_on="ns",
        right_on="start_ns",
        by=["pid", "tid"],
    )


def publications(analysis: Analysis, rows: pd.DataFrame) -> pd.DataFrame:
    """Return each pub_before row with the publication that is the first after it.

    Publications of internal topics are none of the nodes'.
    """
    topic = analysis.publishers.set_index("publisher_id")["topic"]
    found = analysis.publications.rename(columns={"vpid": "pid", "vtid": "tid"})
    found = found.assign(topic=found["publisher_id"].map(topic))
    found = found[~found["topic"].isin(["/rosout", "/parameter_events"])]
    found["begin_ns"] = found["client_ns"].fillna(found["rmw_publish_ns"]).astype("int64")
    return pd.merge_asof(
        rows[rows["event"] == "pub_before"],
        found.sort_values("begin_ns"),
        left_on="ns",
        right_on="begin_ns",
        by=["pid", "tid"],
        direction="forward",
    )


def expected_messages(analysis: Analysis, rows: pd.DataFrame) -> pd.DataFrame:
    """Return a row a message that a callback logged: publication_id, instance_id and both stamps.

    publication_id is null where the publisher is not in the trace.
    """
    taken = executions(analysis, rows)
    # Not by way of floats: a message whose publisher was not logged has no stamp there.
    published = publications(analysis, rows).astype({"ns": "Int64", "begin_ns": "Int64"})
    taken["upstream"] = taken["node"].map(UPSTREAM)
    return taken.merge(
        published[["node", "src_ns", "publication_id", "ns", "begin_ns"]],
        left_on=["upstream", "src_ns"],
        right_on=["node", "src_ns"],
        how="left",
        suffixes=("", "_published"),
    )


def found_messages(analysis: Analysis) -> pd.DataFrame:
    """Return the messages with the execution that each started."""
    takes = analysis.takes.set_index("take_id")["instance_id"]
    return analysis.messages.assign(instance_id=analysis.messages["take_id"].map(takes))
