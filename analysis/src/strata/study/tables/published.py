# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The published figures of the original campaign, beside ours. They are of another machine.

A file that is known is mapped: its rows to the levels of the study's factors, its figures to a
measure and a statistic of it. Any other file is shown as it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from strata.campaign.model import Figure, listed
from strata.record.places import shipped_root
from strata.study.campaign_results import Results, Study, keeps
from strata.study.client_libraries import client_words
from strata.study.imported_results import read_imports
from strata.study.long_frames import long_frame
from strata.study.measure_definitions import MEASURES
from strata.study.tables import printed_figures
from strata.study.tables.anova import anova, term_words
from strata.study.tables.imported_means import EACH, VALUES, with_imported_means
from strata.study.tables.statistics import SEED, STATISTIC_LABELS
from strata.study.tables.table import ORIGIN, Column, Table, factor_columns, groups
from strata.study.wording import name_words, shown_factor, shown_unit
from strata.units import format_share

DIRECTORY = "published"
CALL_CHAIN = "call_chain_latency"
_SQUARE = "ns^2"
_TITLE = "as published (another machine)"
_WHAT = ["measure", "statistic", "unit"]
_STATISTICS = {**STATISTIC_LABELS, "count": "n", "se": "standard error"}
_ANOTHER = "Printed figures are of another machine: {machine}{client}."
_OTHER_CLIENT = (
    "Ours are of {here}, the printed ones of {printed}: they differ by the client library, too."
)


def published(results: Results, study: str, figure: Figure) -> Table:
    """Return the figures of a published file, those that are wrong corrected, and ours beside.

    `of` keeps the printed figures of one measure; `rows` are the factors of a row: those of the
    file (the default), and maybe further ones of the study.
    """
    path = published_file(results, str(figure.file))
    original = results.campaign.original
    client = _client(results, study, figure)
    printed = original.client if original else ""
    note = _ANOTHER.format(
        machine=original.machine if original else "not stated",
        client=f", its nodes in {printed}" if printed else "",
    )
    if printed and client and client != printed:
        note = f"{note} {_OTHER_CLIENT.format(here=client, printed=printed)}"
    if path is None:
        empty = f"the file {figure.file} is neither beside the campaign's file nor shipped"
        return Table("published", str(figure.file), (), pd.DataFrame(), (note,), empty)
    whose = original.title if original else path.name
    title = f"{_TITLE}: {whose}"
    if path.name == printed_figures.DDS_ANOVA:
        return _anova(results, study, path, title, note)
    figures = _read(path)
    if figures is None or not _fit(figures, results, study, figure):
        return _as_it_is(path, title, note)
    kept = _called_here(figures.frame, figures.factors, results.study(study))
    if figure.of:
        kept = kept[kept["measure"] == figure.of]
    if kept.empty:
        has = ", ".join(map(name_words, figures.frame["measure"].unique()))
        empty = f"{path.name} has no {name_words(str(figure.of))}: it has {has}"
        return Table("published", title, (), pd.DataFrame(), (note,), empty)
    table = _beside(results, study, replace(figures, frame=kept), figure, client)
    title = ", ".join(filter(None, [_TITLE, table.title]))
    return replace(table, title=f"{title}: {whose}", notes=(note, *figures.notes))


def _read(path: Path) -> printed_figures.Figures | None:
    """Read printed figures; null for a file that has none of a known kind, or other columns."""
    reader = printed_figures.READERS.get(path.name)
    try:
        return reader(path) if reader else None
    except KeyError:
        return None


def _called_here(frame: pd.DataFrame, factors: Sequence[str], study: Study) -> pd.DataFrame:
    """Give printed levels the names that the study has for them."""
    for name in factors:
        factor = study.stated.factors[name]
        known = {level: factor.level_called(level) or level for level in frame[name].unique()}
        frame = frame.assign(**{name: frame[name].map(known)})
    return frame


def _client(results: Results, study: str, figure: Figure) -> str:
    """Name the client library of our nodes; empty where nothing tells."""
    ran = results.study(study).finished
    return client_words(results, [one for one in ran if keeps(figure.where, one.cell.levels)])


def _fit(figures: printed_figures.Figures, results: Results, study: str, figure: Figure) -> bool:
    """Tell whether the rows tell apart what the file does, by factors of the study."""
    rows, stated = listed(figure.rows) or figures.factors, results.study(study).stated.factors
    return all(name in rows and name in stated for name in figures.factors)


def published_file(results: Results, name: str) -> Path | None:
    """Find a published file: beside the campaign's file, else among those that ship."""
    file = results.directory.document.get("file")
    places = [Path(str(file)).parent] if file else []
    places.append(shipped_root() / "campaigns")
    found = (place / DIRECTORY / name for place in places)
    return next((path for path in found if path.is_file()), None)


def _as_it_is(path: Path, title: str, note: str) -> Table:
    frame = pd.read_csv(path, dtype=str)
    columns = tuple(Column(name, name, form="exact") for name in frame.columns)
    return Table("published", title, columns, frame, (note, f"{path.name}, as it is."))


def _beside(
    results: Results, study: str, figures: printed_figures.Figures, figure: Figure, client: str
) -> Table:
    """Put our statistics, of nodes in `client`, beside the printed ones: a row for what either has.

    A measure, statistic or unit that all rows have is told in the title.
    """
    rows = listed(figure.rows) or list(figures.factors)
    frame = figures.frame.merge(
        _ours(results, study, figures.frame, rows, figure),
        on=[*figures.factors, *_WHAT],
        how="outer",
    )
    labels: dict[str, str] = {}
    for further in figures.further:
        asked = figures.frame[figures.frame["measure"] == further.beside]
        if asked.empty or (further.by_hops and not _has_chains(results, study, further)):
            continue
        own = _ours(results, study, asked, rows, figure, further).drop(columns="count")
        column = f"further_{len(labels)}"
        frame = frame.merge(own.rename(columns={"here": column}), on=[*rows, *_WHAT], how="left")
        hops = sorted(set(_hops(results, study, figure, further).values()))
        labels[column] = further.label.format(hops=", ".join(map(str, hops)) or "hops")
    for origin, theirs in _imported(results, study, figures.frame, rows, figure).items():
        column = f"further_{len(labels)}"
        frame = frame.merge(theirs.rename(columns={"here": column}), on=[*rows, *_WHAT], how="left")
        labels[column] = f"imported: {origin}"
    frame = _in_order(frame, results, study, figures, rows)
    alike = [name for name in _WHAT if frame[name].nunique() == 1]
    columns = _columns(rows, figures, labels, frame, client)
    words = [one.texts[frame[one.name].iloc[0]] for one in columns if one.name in alike]
    title = ", ".join(words)
    kept = tuple(one for one in columns if one.name not in alike)
    return Table("published", title, kept, frame[[one.name for one in kept]])


def _columns(
    rows: Sequence[str],
    figures: printed_figures.Figures,
    further: dict[str, str],
    frame: pd.DataFrame,
    client: str,
) -> tuple[Column, ...]:
    units = {unit: unit for unit in frame["unit"]}
    statistics = {name: _statistic_words(name) for name in frame["statistic"]}
    return (
        *factor_columns(rows),
        Column("measure", "measure", texts={name: name_words(name) for name in MEASURES}),
        Column("statistic", "statistic", texts=statistics),
        Column("unit", "unit", texts=units),
        Column("printed", "printed", form="exact"),
        Column("right", "corrected", form="exact", text="where the printed figure is wrong"),
        *(Column(name, f"printed, {name}", form="exact") for name in figures.elsewhere),
        Column(
            "here",
            figures.here,
            form="figure",
            text=f"this machine{', ' if client else ''}{client}",
        ),
        *(Column(name, label, form="figure") for name, label in further.items()),
        Column("count", "n here", form="count"),
    )


def _statistic_words(name: str) -> str:
    if name.startswith("mean, "):
        _, bound, confidence = name.split(", ")
        return f"mean, {format_share(float(confidence))} {'from' if bound == 'low' else 'to'}"
    return _STATISTICS.get(name, name)


def _in_order(
    frame: pd.DataFrame,
    results: Results,
    study: str,
    figures: printed_figures.Figures,
    rows: Sequence[str],
) -> pd.DataFrame:
    """Sort rows as the campaign's file has its levels, and the published one its figures."""
    stated = results.study(study).stated.factors
    order = {name: list(stated[name].names) for name in rows if name in stated}
    order |= {name: list(figures.frame[name].unique()) for name in _WHAT}
    places = {
        name: frame[name].map({one: place for place, one in enumerate(known)})
        for name, known in order.items()
    }
    sorted_places = pd.DataFrame(places).sort_values(list(places), kind="stable")
    return frame.loc[sorted_places.index].reset_index(drop=True)


def _ours(
    results: Results,
    study: str,
    asked: pd.DataFrame,
    rows: Sequence[str],
    figure: Figure,
    further: printed_figures.Further | None = None,
) -> pd.DataFrame:
    """Return our statistics of the printed ones' measures, or of a further one in their place."""
    out: list[dict[str, Any]] = []
    for measure, wanted in asked.drop_duplicates(_WHAT).groupby("measure", sort=False):
        of = further.measure if further else str(measure)
        frame = long_frame(results, study, of, where=figure.where, imports=False)
        if further and further.by_hops:
            # Of no cell, or of cells without chains, there is nothing to divide by: no value.
            of_cells = _hops(results, study, figure, further)
            hops = frame["cell"].astype(str).map(of_cells).astype("float64")
            frame = frame.assign(value=frame["value"] / hops).dropna(subset=["value"])
        for levels, own in groups(frame, rows):
            values = own["value"].to_numpy(np.float64)
            for one in wanted.to_dict("records"):
                scale = printed_figures.SCALES.get((MEASURES[of].unit, one["unit"]), 1.0)
                value = _statistic(values, str(one["statistic"]), scale)
                what = {name: one[name] for name in _WHAT}
                out.append({**levels, **what, "here": value, "count": len(values)})
    return pd.DataFrame(out, columns=[*rows, *_WHAT, "here", "count"])


def _imported(
    results: Results, study: str, asked: pd.DataFrame, rows: Sequence[str], figure: Figure
) -> dict[str, pd.DataFrame]:
    """Return, by import, the statistics of the printed figures' measures.

    Of a file that has means alone only the mean is known: that of the means.
    """
    names = [one.name for one in read_imports(results.directory.path)]
    out: dict[str, list[dict[str, Any]]] = {}
    for measure, wanted in asked.drop_duplicates(_WHAT).groupby("measure", sort=False):
        frame = with_imported_means(results, study, str(measure), figure.where)
        # The machines beside are origins, too, and no imports.
        for levels, own in groups(frame[frame[ORIGIN].isin(names)], rows):
            values, is_mean = own["value"].to_numpy(np.float64), bool((own[VALUES] != EACH).any())
            for one in wanted.to_dict("records"):
                if is_mean and one["statistic"] != "mean":
                    continue
                scale = printed_figures.SCALES.get((MEASURES[str(measure)].unit, one["unit"]), 1.0)
                value = _statistic(values, str(one["statistic"]), scale)
                what = {name: one[name] for name in _WHAT}
                told = {name: levels[name] for name in rows}
                out.setdefault(levels[ORIGIN], []).append({**told, **what, "here": value})
    columns = [*rows, *_WHAT, "here"]
    return {origin: pd.DataFrame(found, columns=columns) for origin, found in out.items()}


def _has_chains(results: Results, study: str, further: printed_figures.Further) -> bool:
    return further.measure == CALL_CHAIN or results.study(study).stated.chain


def _hops(
    results: Results, study: str, figure: Figure, further: printed_figures.Further
) -> dict[str, int]:
    """Return how many hops the longest chain of each cell has: of messages, or of calls."""
    table = "call_chains" if further.measure == CALL_CHAIN else "chains"
    ran = [one for one in results.study(study).finished if keeps(figure.where, one.cell.levels)]
    found = {one.id: results.measured(one).read(table, ["hops"])["hops"] for one in ran}
    return {cell: int(hops.max()) for cell, hops in found.items() if len(hops)}


def _statistic(
    values: np.ndarray[tuple[int], np.dtype[np.float64]], name: str, scale: float
) -> float | None:
    """Return a statistic by the name that a published file's reader gives it."""
    from strata.stats.intervals import interval, mean_interval
    from strata.stats.summary import describe

    if name.startswith("mean, "):
        _, bound, confidence = name.split(", ")
        found = interval(values, "mean", float(confidence), seed=SEED)
        value = found.low if bound == "low" else found.high
    elif name == "se":
        found = mean_interval(values, 0.95)
        value = float(values.std(ddof=1)) / len(values) ** 0.5 if found.count > 1 else None
    else:
        value = describe(values)[name]
    if value is None:
        return None
    return float(value) if name == "count" else float(value) * scale


def _anova(results: Results, study: str, path: Path, title: str, note: str) -> Table:
    """Put our analysis of variance beside the printed one, term by term."""
    printed = printed_figures.anova_terms(path)
    factors = printed_figures.ANOVA_FACTORS
    asked = Figure(kind="anova", of="latency", factors=[*factors])
    ours = anova(results, study, asked, imports=False)
    columns = [Column("term", "term", texts=term_words(factors))]
    rows = [
        {"term": term, **{f"{key}_printed": one for key, one in row.items()}}
        for term, row in printed.items()
    ]
    own = ours.frame.assign(sum_sq=ours.frame["sum_sq"] * shown_factor(_SQUARE))
    frame = pd.DataFrame(rows).merge(own, on="term", how="left")
    for name, label, unit, form in (
        ("sum_sq", "sum of squares", shown_unit(_SQUARE), "number"),
        ("df", "df", "", "count"),
        ("F", "F", "", "number"),
        ("p", "p", "", "p"),
        ("eta_sq", "eta squared", "", "share"),
    ):
        columns.append(Column(f"{name}_printed", f"{label}, printed", unit, form))
        columns.append(Column(name, f"{label}, here", unit, form))
    notes = (
        note,
        "The printed p of 0.000000 is no probability: it is below 1e-300. Eta squared is made of "
        "the printed sums of squares.",
        *ours.notes,
    )
    if ours.empty:
        notes = (*notes, f"Nothing here: {ours.empty}.")
    return Table("published", title, tuple(columns), frame[[c.name for c in columns]], notes)


def corrections(results: Results, study: str, figure: Figure) -> Table:
    """Return what is known to be wrong in the original, as the campaign's file lists it."""
    del study, figure
    original = results.campaign.original
    stated = list(original.corrections) if original else []
    columns = (Column("number", "", form="count"), Column("text", "what the original has wrong"))
    frame = pd.DataFrame({"number": range(1, len(stated) + 1), "text": stated})
    empty = "" if stated else "the campaign's file lists none"
    title = f"corrections of {original.title}" if original else "corrections"
    return Table("corrections", title, columns, frame, (), empty)
