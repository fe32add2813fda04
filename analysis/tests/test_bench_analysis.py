# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The benchmark of the analysis: its pairs, its intervals, its stages, and its page."""

from __future__ import annotations

import dataclasses
import importlib
import math
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType

import click
import pytest
from page_reader import read

import strata

Sample = Callable[[str], Path]
Modules = Callable[[str], ModuleType]


@pytest.fixture(scope="module")
def benchmark(root: Path) -> Iterator[Modules]:
    """Import a module of the benchmarks."""
    place = str(root / "analysis/benchmarks")
    sys.path.insert(0, place)
    try:
        yield importlib.import_module
    finally:
        sys.path.remove(place)


def covered(count: int, k: int) -> float:
    """The probability that the median lies between the k-th lowest and highest of values."""
    return 1 - 2 * sum(math.comb(count, below) for below in range(k)) / 2**count


@pytest.mark.parametrize("count", [1, 2, 3, 4, 5, 8, 9, 15, 40])
def test_the_interval_of_a_ratio_is_the_narrowest_that_holds_its_median(
    benchmark: Modules, count: int
) -> None:
    bench = benchmark("bench_analysis")
    found = bench.median_ratio([float(value) for value in range(count, 0, -1)])
    k = int(found.low)
    assert found.high == count + 1 - k
    assert found.median == (count + 1) / 2
    assert covered(count, k) >= bench.CONFIDENCE or k == 1
    # One value fewer on each side would be too few (or there is none).
    assert covered(count, k + 1) < bench.CONFIDENCE


def test_programs_run_in_turns_round_by_round(benchmark: Modules, tmp_path: Path) -> None:
    bench = benchmark("bench_analysis")
    log = tmp_path / "log"
    programs = [bench.Program(name, ("sh", "-c", f"echo {name} >> {log}")) for name in "abc"]
    pairs = bench.Pairs(programs, times=2, rounds=2)
    for number in range(3):
        pairs.run_round(number)
    assert log.read_text().split() == [*"abcbca", *"cababc"]
    assert {label: len(costs) for label, costs in pairs.costs.items()} == dict.fromkeys("abc", 4)


def test_a_ratio_is_of_what_ran_next_to_each_other(benchmark: Modules) -> None:
    bench = benchmark("bench_analysis")
    cost = benchmark("bench_processes").Cost
    pairs = bench.Pairs([])
    # All of it gets slower and slower: the pairs' ratio stays.
    pairs.costs = {
        "one": [cost(3.0 * slower, 0.0, 0) for slower in (1, 2, 4, 9, 20)],
        "other": [cost(1.0 * slower, 0.0, 0) for slower in (1, 2, 4, 9, 20)],
    }
    assert pairs.ratio("one", "other") == bench.Ratio(3.0, 3.0, 3.0)
    assert pairs.cpu_s("one") == 12.0


def test_an_event_of_a_large_trace_is_compared_with_one_of_a_small(benchmark: Modules) -> None:
    bench, traces = benchmark("bench_analysis"), benchmark("load_traces")
    cost = benchmark("bench_processes").Cost
    found = []
    for events, seconds in ((1000, [1.0, 2.0, 3.0]), (4000, [5.0, 10.0])):
        trace = traces.Trace(Path(), f"{events}", events, 1, is_chains=True)
        found.append(bench.Pairs([], trace, costs={}))
        found[-1].costs[bench.ANALYZE] = [cost(value, 0.0, 0) for value in seconds]
    # The large trace is not measured in every round.
    assert bench.growth(*found, bench.ANALYZE) == bench.Ratio(1.25, 1.25, 1.25)


def test_a_rival_is_a_command_with_a_trace_in_it(benchmark: Modules) -> None:
    bench = benchmark("bench_analysis")
    named = bench.parse_rival("reader=sh -c 'cat {trace}/metadata'")
    assert (named.label, named.command) == ("reader", ("sh", "-c", "cat {trace}/metadata"))
    assert bench.parse_rival("/bin/cat --number={trace}").label == "cat"
    with pytest.raises(click.ClickException, match=r"no \{trace\} in it"):
        bench.parse_rival("cat trace")
    with pytest.raises(click.ClickException, match="no_such_program is not found"):
        bench.parse_rival("no_such_program {trace}")


def test_every_second_of_an_analysis_is_in_a_stage(
    benchmark: Modules, root: Path, sample: Sample
) -> None:
    processes, stages = benchmark("bench_processes"), benchmark("bench_stages")
    script = root / "analysis/benchmarks/bench_stages.py"
    cost = processes.run([sys.executable, script, sample("fast_relay1p_st")], keep_output=True)
    found = cost.printed
    # The end of the interpreter is in none: of a small trace some tenth of a second.
    assert 0.8 * cost.cpu_s <= sum(found.values()) <= cost.cpu_s
    assert found[stages.OTHER] < 0.1 * cost.cpu_s
    assert {stages.START, stages.IMPORTS, "stats"} <= found.keys()
    package = Path(strata.__file__).parent
    for stage in found.keys() - {stages.START, stages.IMPORTS, stages.OTHER}:
        assert (package / stage).is_dir() or (package / f"{stage}.py").is_file()


def test_the_page_has_a_row_for_all_that_was_measured(
    benchmark: Modules, sample: Sample, tmp_path: Path
) -> None:
    bench, page = benchmark("bench_analysis"), benchmark("bench_analysis_page")
    traces = benchmark("load_traces")
    trace = traces.known(sample("services_kilted"), "calls")
    assert trace.events == 2250
    rival = bench.parse_rival("reader=ls {trace}")
    results = bench.Results("bench_analysis.py", "2026-11-23", 1, against=["reader"])
    chains = dataclasses.replace(trace, is_chains=True)
    results.traces.append(bench.of_trace(chains, [rival], memory="1G"))
    results.starts.append(bench.of_start())
    for pairs in results.all_pairs:
        pairs.run_round(0)
    results.stages = {"calls": {"read": 1.0, "stats": 98.5, "cli": 0.5}}
    text = page.markdown(results)
    rows = [line.strip("| ").split(" | ") for line in text.splitlines() if line.startswith("|")]
    assert [row[0] for row in rows if row[0] in ("calls", bench.HELP)] == ["calls"] * 2 + [
        bench.HELP
    ]
    assert ["stats", "98.50 (98%)"] in rows
    assert ["the rest", "0.500 (0%)"] in rows
    (one,) = [row for row in rows if row[:2] == ["calls", "2,250"]]
    growth = [row[:2] for row in rows if row[0].startswith(bench.ANALYZE) and len(row) == 5]
    assert growth == [[bench.ANALYZE, "2,250"], [bench.IN_MEMORY, "2,250"]]
    assert float(one[3]) == pytest.approx(results.traces[0].cpu_s(bench.ANALYZE), rel=0.01)
    page.print_tables(results)


def test_a_campaign_is_made_whose_report_has_its_cells(benchmark: Modules, tmp_path: Path) -> None:
    bench = benchmark("bench_analysis")
    report, cells = bench.of_campaign(tmp_path, 1)
    report.run_round(0)
    page = read((tmp_path / "report.html").read_text())
    told = [tile.words for tile in page.by_id("ran").every("dl", "tiles")[0].every("div")]
    assert cells > 1
    assert told[:2] == [f"cells{cells}", f"finished{cells}"]


def test_the_page_is_what_the_benchmark_writes(benchmark: Modules, root: Path) -> None:
    page = benchmark("bench_analysis_page")
    text = (root / "docs/analysis-speed.md").read_text()
    (command,) = re.findall(r"python (analysis/benchmarks/bench_analysis.py .*) --write", text)
    (rounds,) = re.findall(r"--rounds (\d+)", command)
    assert text.startswith(page.introduction(command, int(rounds)))
    for head in (page.TRACE_HEAD, page.GROWTH_HEAD, page.START_HEAD, page.CAMPAIGN_HEAD):
        assert f"| {' | '.join(head)} |" in text
