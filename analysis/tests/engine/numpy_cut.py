# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The layers of messages in NumPy, a formula each: what the engine's cut is compared with.

Columns are by checkpoint; what is not in one is NONE. The formulas know nothing of the declared
routes: only their numbers say what kind of message each is.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from strata.model.columns import NONE, Ints
from strata.schema import checkpoints as at
from strata.schema import layers as names
from strata.schema.checkpoints import Checkpoint
from strata.schema.layer import Route


def cut_layers(route: Ints, instants: Mapping[Checkpoint, Ints]) -> dict[str, Ints]:
    """Return the duration of each layer of each message, by the layer's column."""
    none = np.full(len(route), NONE, np.int64)
    kind = {item: route == names.ROUTES.index(item) for item in names.ROUTES}
    p = instants[at.RMW_PUBLISH]
    n = np.where(kind[names.STOCK] | kind[names.INTRA_PROCESS], NONE, instants[at.NOTIFY])
    told = (n != NONE) | kind[names.INTRA_PROCESS]
    begin = np.where(n != NONE, n, p)
    w, e, t = instants[at.WOKE], instants[at.PICKED], instants[at.TAKE]
    start, end, client = instants[at.START], instants[at.END], instants[at.PUBLISH]
    split, picked = w != NONE, e != NONE
    waiting = np.where(split, w - begin, 0)
    layers = [
        (names.CLIENT_PUBLISH, client != NONE, p - client),
        (names.WAKE_UP, split & told, waiting),
        (names.EXECUTOR_WAIT, split & picked, e - begin - waiting),
        (names.WAKE_UP_EXECUTOR_WAIT, ~split & told & picked, e - begin),
        (names.MIDDLEWARE_EXECUTOR_WAIT, ~split & ~told & picked, e - begin),
        (names.TAKE, picked & ~kind[names.INTRA_PROCESS], t - e),
        (names.EXECUTOR_WAIT_TAKE, split & ~picked, t - begin - waiting),
        (names.WAKE_UP_EXECUTOR_WAIT_TAKE, ~split & told & ~picked, t - begin),
        (names.MIDDLEWARE_EXECUTOR_WAIT_TAKE, ~split & ~told & ~picked, t - begin),
        (names.CLIENT_TAKE, start != NONE, start - t),
        (names.CALLBACK, (start != NONE) & (end != NONE), end - start),
    ]
    out = {layer.column: none for layer in names.HOP_LAYERS}
    out |= {layer.column: np.where(there, ns, NONE) for layer, there, ns in layers}
    out |= _within_middleware(kind, instants, p, n)
    stock = names.MIDDLEWARE.column
    out[stock] = np.where(split & ~told, waiting, out[stock])
    return out


def _within_middleware(
    kind: Mapping[Route, np.typing.NDArray[np.bool_]],
    instants: Mapping[Checkpoint, Ints],
    published: Ints,
    n: Ints,
) -> dict[str, Ints]:
    x, r = instants[at.SEND], instants[at.RECEIVE]
    late = kind[names.FROM_HISTORY] | kind[names.FROM_HISTORY_UNSENT]
    begin = np.where(kind[names.FROM_HISTORY], x, published)
    begin = np.where(kind[names.FROM_HISTORY_UNSENT], instants[at.SENDABLE], begin)
    s0, s1 = (
        np.where(kind[names.TRACED], instants[point], NONE)
        for point in (at.SERIALIZE_BEGIN, at.SERIALIZE_END)
    )
    lent = kind[names.LOANED]
    cut, serialized, sent, received = n != NONE, s1 != NONE, x != NONE, r != NONE
    known = serialized | late | lent
    before = np.where(serialized, s0 - begin, 0)
    after = np.where(serialized, s1, begin)
    layers = [
        (names.HISTORY, late, begin - published),
        (names.SERIALIZE, serialized, s1 - s0),
        (names.DDS_WRITE, (serialized | lent) & sent, before + x - after),
        (names.SERIALIZE_DDS_WRITE, ~known & sent, x - begin),
        (names.TRANSPORT, sent & received, r - x),
        (names.DDS_WRITE_TRANSPORT, known & ~sent & received, before + r - after),
        (names.SERIALIZE_DDS_WRITE_TRANSPORT, ~known & ~sent & received, r - begin),
        (names.DDS_RECEIVE, received, n - r),
        (names.TRANSPORT_DDS_RECEIVE, sent & ~received, n - x),
        (names.DDS_WRITE_TRANSPORT_DDS_RECEIVE, known & ~sent & ~received, before + n - after),
        (names.MIDDLEWARE, ~known & ~sent & ~received, n - begin),
    ]
    return {layer.column: np.where(cut & there, ns, NONE) for layer, there, ns in layers}
