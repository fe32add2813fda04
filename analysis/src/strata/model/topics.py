# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Topics of publications and takes as dense numbers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from strata.lazy import pandas as pd
from strata.model.columns import Ints
from strata.model.entities import Entities
from strata.model.naming import subscription_places
from strata.model.search import pick
from strata.model.traffic import Publications, Takes


@dataclass(frozen=True)
class Topics:
    """The topic of each publisher, subscription, publication and take; `NONE` where unknown.

    `takers` says in words, for findings, which subscription took.
    """

    of_publisher: Ints
    of_subscription: Ints
    of_publication: Ints
    of_take: Ints
    takers: npt.NDArray[np.object_]


def number_topics(publications: Publications, takes: Takes, entities: Entities) -> Topics:
    """Return the topics of entities and of what they published and took."""
    names = np.concatenate([entities.publishers.topic, entities.subscriptions.topic])
    codes = pd.factorize(names)[0].astype(np.int64)
    of_publisher, of_subscription = np.split(codes, [len(entities.publishers)])
    return Topics(
        of_publisher,
        of_subscription,
        pick(of_publisher, publications.publisher),
        pick(of_subscription, takes.subscription),
        subscription_places(entities, takes.subscription),
    )
