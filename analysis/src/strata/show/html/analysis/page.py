# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The report: one HTML file that needs nothing beside it.

Styles, scripts and data are inside. A content security policy in the page forbids every request, so
a name in a trace can neither load nor send anything.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bokeh.resources import Resources
from jinja2 import Environment
from markupsafe import Markup

from strata import __version__
from strata.printable import printable
from strata.schema.diagnostic import Severity
from strata.schema.layer import Layer
from strata.schema.layers import HOLD, HOP_LAYERS, LINK_HOLD, STORED, TRANSFER_LAYERS
from strata.show.html import theme
from strata.show.html.analysis import (
    actions,
    drivers,
    entities,
    picture,
    services,
    system,
    tables,
    threads,
    trend,
)
from strata.show.html.analysis.explorer import Explorer, explorer_of
from strata.show.html.embedding import (
    check_target,
    figure_json,
    page_asset,
    write_page,
)
from strata.show.html.figures.quantiles import QuantileFigure, layer_quantiles
from strata.show.html.templates import page_templates, with_micro
from strata.show.terminal.executors import EXECUTOR_STATES
from strata.show.terminal.findings import said_first
from strata.show.words.chain_choice import chosen_chains
from strata.show.words.cpu_use import any_known
from strata.show.words.headline import headline
from strata.show.words.naming import Names
from strata.show.words.quantiles import Quantiles
from strata.show.words.trend import trend_sentences
from strata.show.words.trust import trust_words
from strata.stats.bottleneck import mode_sentences, shared_names
from strata.stats.scheduling import STATES
from strata.units import format_instant, format_share

if TYPE_CHECKING:
    from strata.analysis import Analysis, Bottleneck

SCRIPTS = (
    "element.js",
    "figures.js",
    "address.js",
    "selection.js",
    "layers.js",
    "timeline_data.js",
    "timeline.js",
    "graph.js",
    "explore.js",
    "tables.js",
    "search.js",
)
"""Scripts of the page, in the order in which they run."""

MAX_CHAINS = 6
"""So many chains, each of another group, have sections; the others are named in a table."""


@dataclass(frozen=True)
class ChainSection:
    """What the page shows of one chain; figures are null for a chain of no messages.

    `is_shared`: another chain has its name, so that only the nodes tell it from that one.
    """

    chain_id: int
    name: str
    is_shared: bool
    nodes: list[str]
    topics: list[str]
    count: int
    unfinished: int
    cut_short: int
    hop_count: int
    latency: dict[str, float | None]
    bottleneck: str
    modes: str
    views: list[picture.View]
    legend: list[str]
    quantile_figure: QuantileFigure | None
    blame: tables.Blame
    layers: list[tables.LayerRow]
    threads: tables.Split


def write_report(
    analysis: Analysis, path: Path, *, title: str, force: bool, replace_page: bool = False
) -> Path:
    """Write the page of `analysis` to `path` and return that path.

    Raises OutputError when the file exists and `force` is not given, or when it cannot be written;
    then nothing is left behind. With `replace_page` a page of Strata's needs no `force`.
    """
    check_target(path, force=force, replace_page=replace_page)
    page = render_page(analysis, title=title)
    return write_page(path, page)


def render_page(analysis: Analysis, *, title: str) -> str:
    """Return the page as text; it depends on `analysis` and `title` alone."""
    shown = chosen_chains(analysis, MAX_CHAINS)
    quantiles = Quantiles(analysis)
    chains = _sections(analysis, shown, quantiles)
    explorer = explorer_of(analysis)
    over_time = trend.trend_of(analysis, shown, MAX_CHAINS)
    environment = _environment()
    return environment.get_template("template.html.j2").render(
        title=title,
        version=__version__,
        analysis=analysis,
        trace=analysis.trace,
        begin=format_instant(analysis.trace.begin_ns),
        counts=analysis.counts,
        findings=_records(analysis),
        first=[*_faults(analysis), *said_first(_records(analysis))],
        explorer=explorer,
        headline=[with_micro(text) for text in _headline(analysis)],
        trust=_trust(analysis),
        node_count=len(set(analysis.rows("nodes").texts("name"))),
        lost=bool((analysis.quality["severity"] == Severity.LOSS.value).any()),
        chains=chains,
        system=system.system_of(analysis, shown),
        system_text=with_micro(analysis.system.text),
        other_chains=_others(analysis, shown, quantiles),
        latency_names=(*quantiles.names(tables.LATENCIES), "max"),
        duration_names=(*quantiles.names(tables.DURATIONS), "max"),
        trend=over_time,
        hops=tables.hop_rows(analysis, quantiles),
        shared_names=shared_names(analysis.chains),
        drivers=drivers.driver_rows(analysis),
        services=services.service_rows(analysis.services, analysis.service_layers),
        service_layers=services.present_layers(analysis),
        actions=actions.action_rows(analysis),
        executors=threads.thread_rows(analysis),
        threads_used=any_known(analysis.rows("executor_threads")),
        callbacks_used=any_known(analysis.rows("callbacks")),
        timers=entities.timer_rows(analysis.timer_statistics),
        lifecycle=entities.state_rows(analysis.lifecycle_statistics),
        callbacks=tables.callback_rows(analysis.callbacks, quantiles),
        hop_legend=sorted(set(analysis.hop_layers["layer"]), key=theme.order),
        layer_docs=_layer_docs(analysis),
        executor_states=EXECUTOR_STATES,
        kernel_states=STATES,
        state_docs=threads.STATE_DOCS,
        has_scheduling=not analysis.chain_scheduling.empty,
        state_fills=theme.STATES,
        figures=_figure_items(chains, explorer, over_time),
        paints=theme.paints(),
        style=page_asset("style.css") + page_asset("explorer.css"),
        early_script=page_asset("appearance.js"),
        script=Markup("\n").join(map(page_asset, SCRIPTS)),
        bokeh=Markup(Resources(mode="inline", components=["bokeh"]).render_js()),
    )


def _sections(analysis: Analysis, shown: list[int], quantiles: Quantiles) -> list[ChainSection]:
    sentences = {item.chain_id: item for item in analysis.bottlenecks}
    return [_section(analysis, chain_id, sentences.get(chain_id), quantiles) for chain_id in shown]


def _others(analysis: Analysis, shown: list[int], quantiles: Quantiles) -> list[dict[str, Any]]:
    """Return the chains without a section, each with its `latency` by the name of the quantile."""
    rows = tables.records(analysis.chains[~analysis.chains["chain_id"].isin(shown)])
    return [{**row, "latency": _latency(row, quantiles, tables.DURATIONS)} for row in rows]


def _latency(
    chain: Mapping[Any, Any], quantiles: Quantiles, usual: tuple[str, ...]
) -> dict[str, float | None]:
    return tables.quantiles_of(
        quantiles, ("chain", int(chain["chain_id"])), usual, chain, "latency_"
    )


def _section(
    analysis: Analysis,
    chain_id: int,
    bottleneck: Bottleneck | None,
    quantiles: Quantiles,
) -> ChainSection:
    chain = analysis.chains[analysis.chains["chain_id"] == chain_id].iloc[0]
    instances = analysis.chain_instances[analysis.chain_instances["chain_id"] == chain_id]
    segments = analysis.chain_segments[analysis.chain_segments["chain_id"] == chain_id]
    drawn = not instances.empty and not segments.empty
    views = picture.views(analysis, chain_id)
    modes = analysis.modes[analysis.modes["chain_id"].eq(chain_id).fillna(False)]
    names = {segment.layer for view in views for row in view.rows for segment in row.segments}
    return ChainSection(
        chain_id=chain_id,
        name=str(chain["name"]),
        is_shared=str(chain["name"]) in shared_names(analysis.chains),
        nodes=str(chain["nodes"]).split(" -> "),
        topics=str(chain["name"]).split(" -> "),
        count=int(chain["count"]),
        unfinished=int(chain["unfinished"]),
        cut_short=int(chain["cut_short"]),
        hop_count=int(chain["hop_count"]),
        latency=_latency(chain.to_dict(), quantiles, tables.LATENCIES),
        bottleneck=with_micro(bottleneck.text) if bottleneck else "",
        modes=with_micro(mode_sentences(modes).get(chain_id, "")),
        views=views,
        legend=sorted(names, key=theme.order),
        quantile_figure=layer_quantiles(instances, segments) if drawn else None,
        blame=tables.blame_of(analysis.blame, chain_id),
        layers=tables.layer_rows(analysis.chain_layers, chain_id, quantiles),
        threads=threads.layer_thread_rows(analysis, chain_id, chain["latency_mean_ns"]),
    )


def _records(analysis: Analysis) -> list[dict[str, object]]:
    """The findings; that of directories that could not be read names them."""
    records = [{str(k): v for k, v in row.items()} for row in analysis.quality.to_dict("records")]
    unread = analysis.losses.loc[analysis.losses["code"] == "unreadable_traces", "place"]
    for record in records:
        if record["code"] == "unreadable_traces":
            record["text"] = " ".join([str(record["text"]), *map(printable, unread)])
    return records


def _layer_docs(analysis: Analysis) -> list[Layer]:
    """Definitions: of every basic layer, and of the merged ones that this trace has."""
    present = set(analysis.hop_layers["layer"]) | set(analysis.chain_layers["layer"])
    merged = [item for item in TRANSFER_LAYERS if " + " in item.name and item.name in present]
    basic = [item for item in HOP_LAYERS if " + " not in item.name]
    stored = [item for item in (STORED, LINK_HOLD) if item.name in present]
    return [*basic, HOLD, *stored, *merged]


def _figure_items(
    chains: list[ChainSection], explorer: Explorer, over_time: trend.Trend | None
) -> list[tuple[str, Markup]]:
    """Every figure's place on the page and its document as JSON."""
    items = []
    if explorer.latency is not None:
        items.append(("latency", figure_json(explorer.latency.plot, "latency")))
    for chain in chains:
        if chain.quantile_figure is not None:
            place = f"quantile-{chain.chain_id}"
            items.append((place, figure_json(chain.quantile_figure.plot, place)))
    rows = [] if over_time is None else over_time.rows
    return [*items, *((row.place, figure_json(row.figure.plot, row.place)) for row in rows)]


def _faults(analysis: Analysis) -> list[dict[str, str]]:
    """Why a guard kept the trace, in the form of findings."""
    return [{"severity": "loss", "text": f"Fault: {text}"} for text in analysis.trace.faults]


def _headline(analysis: Analysis) -> tuple[str, ...]:
    """Return the verdict, statement by statement, and what changed over time."""
    statements = headline(analysis, Names(analysis)).statements
    if not statements:
        return ("no message of the application was followed to the end of its callback",)
    return (*statements, *(text.replace(" -> ", " → ") for text in trend_sentences(analysis)))


def _trust(analysis: Analysis) -> dict[str, str]:
    """Say in a few words whether the numbers can be trusted; `severity` is that of the worst."""
    severities = set(analysis.rows("quality").texts("severity"))
    worst = [one.value for one in (Severity.LOSS, Severity.WARNING) if one.value in severities]
    return {"severity": next(iter(worst), "good"), "text": trust_words(analysis)}


def _environment() -> Environment:
    environment = page_templates("strata.show.html.analysis")
    environment.filters["share"] = format_share
    environment.filters["percent_of"] = lambda share, whole: (
        f"{100 * (share or 0.0) / whole if whole else 0.0:.2f}%"
    )
    return environment
