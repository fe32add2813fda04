# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""A chain as a user writes it: its topics, joined by arrows."""

from __future__ import annotations

import re

_ARROW = re.compile(r"\s*(?:->|→|>)\s*")


def topics_of(chain: str) -> list[str]:
    """Return the topics of "/a -> /b -> /c", in order; `>` and `→` are arrows too.

    Raises ValueError for a text in which a topic is missing or does not begin with "/".
    """
    topics = _ARROW.split(chain.strip())
    if not all(topics):
        raise ValueError(f"{chain!r} is not a list of topics joined by ->, as in '/a -> /b'")
    for topic in topics:
        if not topic.startswith("/") or re.search(r"\s", topic):
            raise ValueError(
                f"{topic!r} in {chain!r} is not the full name of a topic, which begins with '/' "
                "and has no spaces"
            )
    return topics
