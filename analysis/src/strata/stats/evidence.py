# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What is known about where the time of messages was spent, from the tables of an analysis."""

from __future__ import annotations

from strata.schema.rows import Coded, Rows
from strata.stats.callbacks import awaited_words, described
from strata.stats.causes import Evidence
from strata.stats.layer_places import LayerPlaces
from strata.stats.scheduling import estimated_waits, held_up_by

EVIDENCE = (
    "messages",
    "executor_blockers",
    "callback_objects",
    "layer_scheduling",
    "preemptions",
    "layer_cpu_waits",
)
"""The tables that `evidence_of` takes, in order."""


def evidence_of(
    messages: Rows,
    blockers: Rows,
    objects: Rows,
    scheduling: Rows,
    preemptions: Rows,
    cpu_waits: Rows,
    *,
    places: LayerPlaces | None = None,
    callbacks: Coded | None = None,
) -> Evidence:
    """Return the evidence that `find_causes` needs.

    The arguments are the tables of `EVIDENCE`; `callbacks` and `places`, which follow from them,
    are given where they are known already.
    """
    callbacks = described(objects) if callbacks is None else callbacks
    awaited = awaited_words(objects.records())
    return Evidence(
        places=places or LayerPlaces.of_messages(messages, callbacks),
        messages=messages,
        blockers=blockers,
        callbacks=callbacks,
        awaited=Coded.of(awaited.get(number) for number in objects["callback_id"].tolist()),
        held_up=held_up_by(scheduling, preemptions),
        cpu_waits=estimated_waits(scheduling, cpu_waits),
    )
