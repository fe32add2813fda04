# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Topics of publications and takes as dense numbers."""

from __future__ import annotations

import numpy as np
import pandas as pd

from strata.model.columns import Ints
from strata.model.entities import Entities
from strata.model.search import pick
from strata.model.traffic import Publications, Takes


def number_topics(
    publications: Publications, takes: Takes, entities: Entities
) -> tuple[Ints, Ints]:
    """Return the topic of each publication and of each take; `NONE` where it is unknown."""
    names = np.concatenate([entities.publishers.topic, entities.subscriptions.topic])
    codes = pd.factorize(names)[0].astype(np.int64)
    of_publisher, of_subscription = np.split(codes, [len(entities.publishers)])
    return pick(of_publisher, publications.publisher), pick(of_subscription, takes.subscription)
