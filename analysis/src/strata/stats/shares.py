# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""How large a share may be of which so many cases were counted: exact bounds.

The bounds are one-sided (Clopper and Pearson, Biometrika 26, 1934): cases count as independent.
Losses that come in bursts are known less surely than it says.
"""

from __future__ import annotations

CONFIDENCE = 0.95
_MOST = 10**9


def share_at_most(cases: int, of: int, confidence: float = CONFIDENCE) -> float | None:
    """Return the upper bound of a share (0 to 1) of which `cases` of `of` were seen.

    A larger share would have shown this few with a probability of 1 - confidence at most. Null
    where nothing was counted.
    """
    from scipy.stats import beta

    if of <= 0:
        return None
    return 1.0 if cases >= of else float(beta.ppf(confidence, cases + 1, of - cases))


def share_at_least(cases: int, of: int, confidence: float = CONFIDENCE) -> float | None:
    """Return the lower bound of a share (0 to 1) of which `cases` of `of` were seen.

    A smaller share would have shown this many with a probability of 1 - confidence at most. Null
    where nothing was counted.
    """
    from scipy.stats import beta

    if of <= 0:
        return None
    return 0.0 if cases <= 0 else float(beta.ppf(1.0 - confidence, cases, of - cases + 1))


def share_interval(cases: int, of: int, confidence: float = CONFIDENCE) -> tuple[float, float]:
    """Return the two-sided interval of a share (0 to 1) of which `cases` of `of` were seen.

    It is that of Clopper and Pearson. Raises ValueError where nothing was counted.
    """
    from scipy.stats import binomtest

    if of <= 0:
        raise ValueError(f"Cannot make an interval of {cases} of {of}. Give at least one case.")
    found = binomtest(cases, of).proportion_ci(confidence, method="exact")
    return float(found.low), float(found.high)


def count_to_tell(share: float, bound: float, confidence: float = CONFIDENCE) -> int | None:
    """Return how many it takes until a share that stays as it is has its upper bound below `bound`.

    Null where it never has (the share is not below the bound), or not within 10^9.
    """
    if share >= bound:
        return None

    def tells(of: int) -> bool:
        upper = share_at_most(round(share * of), of, confidence)
        return upper is not None and upper < bound

    few, enough = 1, 2
    while not tells(enough):
        few, enough = enough, 2 * enough
        if enough > _MOST:
            return None
    while enough - few > 1:
        middle = (few + enough) // 2
        few, enough = (few, middle) if tells(middle) else (middle, enough)
    return enough
