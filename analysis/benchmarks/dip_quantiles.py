# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The quantiles of the dip of uniform samples, by drawing many of them.

usage: dip_quantiles.py [--samples N] [--seed N] [--write analysis/src/strata/stats/dip_table.py]

Prints (or writes) the module with the table of the dip test's p-values. With the defaults it is the
one in the repository, after some minutes.
"""

from __future__ import annotations

from pathlib import Path

import click
import numpy as np
import numpy.typing as npt

from strata.stats.dip import dip

COUNTS = (50, 100, 200, 500, 1_000, 2_000)
CHANCES = (
    *(0.99, 0.95, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.15, 0.1, 0.07, 0.05),
    *(0.03, 0.02, 0.015, 0.01, 0.007, 0.005, 0.003, 0.002, 0.001, 0.0005),
)

HEAD = '''\
# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Quantiles of sqrt(n) * dip in uniform samples, written by analysis/benchmarks/dip_quantiles.py.

Of {samples:,} samples of each count (seed {seed}): a chance p has a standard error of about
sqrt(p / {samples:,}).
"""
'''


def quantiles(count: int, samples: int, seed: int) -> npt.NDArray[np.float64]:
    """Return what sqrt(count) * dip exceeds with each of `CHANCES`."""
    random = np.random.default_rng([seed, count])
    dips = [dip(np.sort(random.random(count))) for _ in range(samples)]
    return np.sqrt(count) * np.quantile(dips, 1 - np.asarray(CHANCES))


def module(samples: int, seed: int) -> str:
    """Return the text of strata.stats.dip_table."""
    columns = []
    for count in COUNTS:
        columns.append(quantiles(count, samples, seed))
        click.echo(f"{count} values: done", err=True)
    lines = [
        HEAD.format(samples=samples, seed=seed),
        f"COUNTS = ({', '.join(f'{count:_}' for count in COUNTS)})",
        '"""How many values a sample has: the columns of `QUANTILES`."""',
        "QUANTILES = {",
    ]
    for chance, row in zip(CHANCES, np.transpose(columns), strict=True):
        lines.append(f"    {chance}: ({', '.join(f'{value:.4f}' for value in row)}),")
    lines += ["}", '"""What sqrt(n) * dip exceeds with the chance that is the key."""', ""]
    return "\n".join(lines)


@click.command(help=__doc__)
@click.option("--samples", default=100_000, show_default=True, help="Samples of each count.")
@click.option("--seed", default=1985, show_default=True)
@click.option("--write", type=click.Path(dir_okay=False, path_type=Path))
def main(samples: int, seed: int, write: Path | None) -> None:
    """Draw, and print or write."""
    text = module(samples, seed)
    if write is None:
        click.echo(text, nl=False)
    else:
        write.write_text(text)
        click.echo(f"wrote {write}")


if __name__ == "__main__":
    main()
