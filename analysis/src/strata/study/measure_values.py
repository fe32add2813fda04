# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The values of each measure in one cell: `value` in the measure's unit, `number`, own columns.

Durations are int64 ns, and so is `t_ns`, the time since the cell's first message or sample.
Intervals are between two neighbours of which neither is warm-up.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd

from strata.schema.layers import CALLBACK, HOP_LAYERS, SUSPENDED
from strata.schema.tables.measured import CHAIN_LAYERS
from strata.stats.periods import grid_losses
from strata.study.cell_tables import CellTables
from strata.study.stamp_modes import mode_of_session

Ints = npt.NDArray[np.int64]

_S = 1_000_000_000
_OTHER_CLOCK_NS = 3_600_000_000_000
_MB = 1e6


@dataclass(frozen=True)
class Context:
    """What a measure needs of the study: whether latency is of chains, and the nominal rate.

    `nominal_hz` is null where none is stated.
    """

    is_of_chains: bool = False
    nominal_hz: float | None = None


def latency(measured: CellTables, context: Context) -> pd.DataFrame:
    """Values of a message's latency: of the longest chains, in a study of chains."""
    if context.is_of_chains:
        return message_values(_chains(measured, "latency_ns"), "latency_ns", "chain")
    return hop_latency(measured, context)


def hop_latency(measured: CellTables, _: Context) -> pd.DataFrame:
    """Values of the latency of each hop."""
    columns = ["hop", "number", "end_ns", "latency_ns", "warm_up"]
    return message_values(measured.read("transfers", columns), "latency_ns", "hop")


def whole_latency(measured: CellTables, context: Context) -> pd.DataFrame:
    """Values of the latency to the end of the callback."""
    if context.is_of_chains:
        return message_values(_chains(measured, "whole_ns"), "whole_ns", "chain")
    columns = ["hop", "number", "end_ns", "whole_ns", "warm_up"]
    return message_values(measured.read("transfers", columns), "whole_ns", "hop")


def _chains(measured: CellTables, column: str) -> pd.DataFrame:
    rows = measured.read("chains", ["chain", "hops", "number", "end_ns", column, "warm_up"])
    longest: pd.DataFrame = rows[rows["hops"] == rows["hops"].max()]
    return longest


def message_values(rows: pd.DataFrame, column: str, name: str) -> pd.DataFrame:
    """Return a column of rows without the warm-up as values; `name` is the column of the hop."""
    # Columns are cut, not a frame: there are thousands of small ones.
    kept = np.flatnonzero(~rows["warm_up"].to_numpy(bool) & rows[column].notna().to_numpy(bool))
    first_ns = rows["end_ns"].min() if len(rows) else 0
    end_ns = rows["end_ns"].array.take(kept).to_numpy(np.int64)
    return pd.DataFrame(
        {
            "hop": rows[name].array.take(kept),
            "number": rows["number"].array.take(kept),
            "value": rows[column].array.take(kept).to_numpy(np.int64),
            "t_ns": end_ns - first_ns,
        }
    )


def period(measured: CellTables, _: Context) -> pd.DataFrame:
    """Values of the time between two receptions of a hop."""
    rows = measured.read("transfers", ["hop", "number", "end_ns", "warm_up"])
    return _intervals(rows, "hop", "end_ns")


def sent_period(measured: CellTables, _: Context) -> pd.DataFrame:
    """Values of the time between two stamps of the source, or between two publishes."""
    stamps = measured.read("stamps", ["topic", "number", "msg_ns", "warm_up"])
    if len(stamps):
        return _intervals(stamps, "topic", "msg_ns")
    rows = _of_sources(measured)
    return _intervals(
        rows.assign(hop=rows["topic"] + ": " + rows["publisher_node"]), "hop", "publish_ns"
    )


def _of_sources(measured: CellTables) -> pd.DataFrame:
    """Return the publications of nodes that begin: they take nothing that is measured.

    Where all take something (a ping and its pong), those of all.
    """
    columns = ["topic", "publisher_node", "number", "publish_ns", "warm_up"]
    rows = measured.read("publications", columns)
    taking = set(measured.read("hops", ["subscription_node"])["subscription_node"])
    begins = ~rows["publisher_node"].isin(taking)
    return rows[begins] if begins.any() else rows


def jitter(measured: CellTables, context: Context) -> pd.DataFrame:
    """Values of how far a period is from the nominal one; none where no rate is stated."""
    nominal = context.nominal_hz
    found = period(measured, context)
    if not nominal:
        return found.iloc[:0]
    return found.assign(value=(found["value"] - round(_S / nominal)).abs())


def _intervals(rows: pd.DataFrame, group: str, column: str) -> pd.DataFrame:
    """Return the differences of neighbours within each group, in ns."""
    parts = []
    first_ns = rows[column].min()
    for name, own in rows.groupby(group, sort=False):
        at = own[column].to_numpy(np.int64)
        kept = ~own["warm_up"].to_numpy(bool)
        kept = kept[1:] & kept[:-1]
        parts.append(
            pd.DataFrame(
                {
                    "hop": str(name),
                    "number": own["number"].to_numpy(np.int64)[1:][kept],
                    "value": np.diff(at)[kept],
                    "t_ns": at[1:][kept] - first_ns,
                }
            )
        )
    return joined(parts, ("hop", "number", "value", "t_ns"))


def stamp_latency(measured: CellTables, _: Context) -> pd.DataFrame:
    """Values of reception less stamp, both as the node noted them; none where it is of two clocks.

    Stamps an hour off in the median are of another clock, as those of a sensor's oscillator are.
    """
    rows = measured.read("stamps")
    first_ns = rows["recv_ns"].min()
    kept = rows[~rows["warm_up"]]
    if len(kept) and abs((kept["recv_ns"] - kept["msg_ns"]).median()) > _OTHER_CLOCK_NS:
        kept = kept.iloc[:0]
    return pd.DataFrame(
        {
            "hop": kept["topic"].astype(str),
            "number": kept["number"],
            "value": kept["recv_ns"] - kept["msg_ns"],
            "t_ns": kept["recv_ns"] - (first_ns if len(rows) else 0),
        }
    )


def point_age(measured: CellTables, _: Context) -> pd.DataFrame:
    """Values of how old the points of each noted column are when the callback has the cloud.

    None where the sensor's clock is not the host's: there a column's time is none of the host's.
    """
    columns = ["hop", "number", "value", "column", "t_ns"]
    times = measured.read("column_times")
    mode = mode_of_session(measured.directory) if len(times) else None
    if mode is None or mode.no_age:
        return pd.DataFrame(columns=columns)
    stamps = measured.read("stamps")
    first_ns = stamps["recv_ns"].min()
    rows = times.merge(stamps[~stamps["warm_up"]], on=["topic", "number"])
    return pd.DataFrame(
        {
            "hop": rows["topic"].astype(str),
            "number": rows["number"],
            "value": rows["recv_ns"] - rows["msg_ns"] - rows["since_ns"],
            "column": rows["column"],
            "t_ns": rows["recv_ns"] - first_ns,
        }
    )


def no_values(_measured: CellTables, _: Context) -> pd.DataFrame:
    """Values of what no cell measures itself: imports alone have them."""
    return pd.DataFrame(columns=["number", "value"])


def loss(measured: CellTables, _: Context) -> pd.DataFrame:
    """Values of the share of what was published meanwhile and never taken, one per hop."""
    hops = measured.read("hops", ["hop", "received", "lost"])
    received, lost = (hops[name].to_numpy(np.int64) for name in ("received", "lost"))
    there = np.flatnonzero(received + lost > 0)
    lost, expected = lost[there], (received + lost)[there]
    return pd.DataFrame(
        {
            "hop": hops["hop"].array.take(there),
            "number": pd.NA,
            "value": 100.0 * lost / expected,
            "lost": lost,
            "expected": expected,
        }
    )


def shortfall(measured: CellTables, context: Context) -> pd.DataFrame:
    """Values of how much less often than nominal it was published; below 0: more often."""
    nominal = context.nominal_hz
    rows = _of_sources(measured)
    kept = ~rows["warm_up"].to_numpy(bool)
    publish_ns = rows["publish_ns"].to_numpy(np.int64)
    topic, topics = pd.factorize(rows["topic"].array)
    node, nodes = pd.factorize(rows["publisher_node"].array)
    source = topic * len(nodes) + node
    kept &= (topic >= 0) & (node >= 0)
    out = []
    for one in dict.fromkeys(source[kept].tolist()):
        own_ns = publish_ns[kept & (source == one)]
        span_ns = int(own_ns.max() - own_ns.min())
        if nominal and span_ns > 0:
            made = (len(own_ns) - 1) / (span_ns / _S)
            value = 100.0 * (1.0 - made / nominal)
            hop = f"{topics[one // len(nodes)]}: {nodes[one % len(nodes)]}"
            out.append({"hop": hop, "number": None, "value": value})
    return pd.DataFrame(out, columns=["hop", "number", "value"])


def grid_loss(measured: CellTables, context: Context) -> pd.DataFrame:
    """Values of the share of a sensor's grid without a message, one per topic of a perf node.

    None without a nominal rate, or where the stamps are not those of a grid.
    """
    columns = ["hop", "number", "value", "lost", "expected"]
    stamps = measured.read("stamps", ["topic", "msg_ns", "warm_up"])
    stamps = stamps[~stamps["warm_up"]]
    out = []
    if context.nominal_hz:
        for topic, own in stamps.groupby("topic", sort=False):
            try:
                found = grid_losses(
                    own["msg_ns"].to_numpy(np.int64), round(_S / context.nominal_hz)
                )
            except ValueError:
                continue
            out.append((topic, None, 100.0 * found.share, found.lost, found.expected))
    return pd.DataFrame(out, columns=columns)


def rate_by_second(measured: CellTables, _: Context) -> pd.DataFrame:
    """Values of how many messages of a hop came in each whole second."""
    rows = measured.read("transfers", ["hop", "end_ns", "warm_up"])
    return _by_second(rows, rows["hop"], "end_ns")


def shortfall_by_second(measured: CellTables, context: Context) -> pd.DataFrame:
    """Values of how much less than nominal was published in each whole second, in percent."""
    rows = _of_sources(measured)
    found = _by_second(rows, rows["topic"] + ": " + rows["publisher_node"], "publish_ns")
    if not context.nominal_hz:
        return found.iloc[:0]
    return found.assign(value=100.0 * (1.0 - found["value"] / context.nominal_hz))


def _by_second(rows: pd.DataFrame, group: pd.Series[str], column: str) -> pd.DataFrame:
    """Count rows per second from the first that is not warm-up; the last second is not whole."""
    parts = []
    kept = ~rows["warm_up"]
    for name, own in rows[kept].groupby(group[kept], sort=False):
        since = own[column].to_numpy(np.int64)
        since = since - since.min()
        counts = np.bincount(since // _S)[: int(since.max() // _S)]
        second = np.arange(len(counts))
        columns = {"hop": str(name), "number": second, "value": counts, "t_ns": second * _S}
        parts.append(pd.DataFrame(columns))
    return joined(parts, ("hop", "number", "value", "t_ns"))


def rate(measured: CellTables, _: Context) -> pd.DataFrame:
    """Values of messages received per second, one per hop; none where less than two came."""
    return pd.DataFrame(
        [
            {"hop": hop, "number": None, "value": (count - 1) / seconds}
            for hop, count, seconds, _ in _flows(measured)
        ],
        columns=["hop", "number", "value"],
    )


def throughput(measured: CellTables, _: Context) -> pd.DataFrame:
    """Values of MB received per second, one per hop; the first message only begins the time."""
    return pd.DataFrame(
        [
            {"hop": hop, "number": None, "value": (count - 1) * payload / seconds / _MB}
            for hop, count, seconds, payload in _flows(measured)
            if payload is not None
        ],
        columns=["hop", "number", "value"],
    )


def _flows(measured: CellTables) -> Iterator[tuple[str, int, float, int | None]]:
    """Give hop, messages, seconds from the first to the last, and bytes of payload."""
    hops = measured.read("hops", ["hop", "received", "first_ns", "last_ns", "payload_bytes"])
    for row in hops.to_dict("records"):
        if row["received"] > 1 and row["last_ns"] > row["first_ns"]:
            seconds = int(row["last_ns"] - row["first_ns"]) / _S
            payload = row["payload_bytes"]
            known = None if pd.isna(payload) else int(payload)
            yield str(row["hop"]), int(row["received"]), seconds, known


def layer(measured: CellTables, context: Context) -> pd.DataFrame:
    """Values of the mean of each layer, one per hop (or chain) and layer; `number` is its place."""
    table, name, layers = "transfers", "hop", HOP_LAYERS
    if context.is_of_chains:
        table, name, layers = "chains", "chain", CHAIN_LAYERS
    after = (CALLBACK,) if context.is_of_chains else (CALLBACK, SUSPENDED)
    of_latency = [one for one in layers if one not in after]
    further = ["hops"] if context.is_of_chains else []
    flags = ["unsynchronised", "warm_up"]
    columns = [name, *further, *(one.column for one in of_latency), *flags]
    rows = measured.read(table, columns)
    if context.is_of_chains:
        rows = rows[rows["hops"] == rows["hops"].max()]
    # Column by column: a frame of as many columns takes longer to cut than to add up.
    kept = ~rows["warm_up"].to_numpy(bool)
    group, hops = pd.factorize(rows[name][kept])
    counts = np.bincount(group, minlength=len(hops)).tolist()
    flagged = group[rows["unsynchronised"].to_numpy(bool)[kept]]
    apart = np.bincount(flagged, minlength=len(hops)) > 0
    of, places, means = [], [], []
    for place, one in enumerate(of_latency):
        column = rows[one.column].array
        there = ~np.asarray(column.isna(), bool)[kept]
        if not there.any():
            continue
        sums = np.zeros(len(hops), np.int64)
        values = column.to_numpy(np.int64, na_value=0)[kept]
        np.add.at(sums, group, values)
        for at in np.unique(group[there]).tolist():
            of.append(at)
            places.append(place)
            means.append(int(sums[at]) / counts[at])
    order = np.argsort(np.asarray(of, np.int64), kind="stable")
    number = np.asarray(places, np.int64)[order]
    return pd.DataFrame(
        {
            "hop": hops.take(np.asarray(of, np.int64)[order]),
            "layer": pd.array([one.name for one in of_latency]).take(number),
            "number": number,
            "value": np.asarray(means, np.float64)[order],
            "unsynchronised": apart[np.asarray(of, np.int64)[order]],
        }
    )


def round_trip(measured: CellTables, _: Context) -> pd.DataFrame:
    """Values of a ping's whole way there and back."""
    trips = measured.read("round_trips")
    if trips.empty:
        chains = _chains(measured, "latency_ns")
        return message_values(chains[chains["hops"] > 1], "latency_ns", "chain")
    kept = trips[~trips["warm_up"]]
    since = kept["begin_ns"] - trips["begin_ns"].min()
    return pd.DataFrame(
        {
            "hop": "there and back",
            "number": kept["number"],
            "value": kept["round_trip_ns"],
            "t_ns": since,
        }
    )


def joined(parts: Sequence[pd.DataFrame], columns: tuple[str, ...]) -> pd.DataFrame:
    """Put the values of several groups below each other; `columns` are those without any group."""
    if not parts:
        return pd.DataFrame(columns=list(columns))
    return pd.concat(parts, ignore_index=True)
