# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Conditions on made traces, each window of which holds its own last moments only."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import pytest
from scene import BASE, Scene
from watched import Span, watched, when
from written_trace import write_tables

from strata.guard.load import When
from strata.guard.losses import Readers
from strata.guard.occurrence import Occurrence
from strata.guard.periods import Publishers
from strata.guard.watch import Watch
from strata.live.judged import judge, see
from strata.live.known_names import KnownNames
from strata.live.windows import Window

MS, S = 1_000_000, 1_000_000_000
BACK, AHEAD = 1 * S, 100 * MS


def published(topic: str, thread: str, times: Sequence[int]) -> list[tuple[int, str]]:
    return [(ns, f"{ns} {thread} rmw_publish {topic} {ns}") for ns in times]


def played(scene: Scene, lines: Sequence[tuple[int, str]]) -> Scene:
    scene.play("\n".join(line for _, line in sorted(lines)))
    return scene


def every(step: int, begin: int, end: int) -> range:
    """Times in ns, given in ms."""
    return range(begin * MS, end * MS, step * MS)


def cut(
    scene: Scene, place: Path, bounds: Sequence[int], back_ns: int = BACK
) -> tuple[list[Path], list[Span]]:
    """Write a trace for each window: what happened in it, shortly before and shortly after."""
    spans = list(pairwise(BASE + (at or -S) for at in bounds))
    tables = scene.tables()
    traces = []
    for number, (since_ns, until_ns) in enumerate(spans):
        begin_ns = 0 if number == 0 else since_ns - back_ns
        held = {}
        for name, table in tables.items():
            at_ns = table["timestamp"].to_numpy()
            own = table.filter((at_ns >= begin_ns) & (at_ns <= until_ns + AHEAD))
            if len(own):
                held[name] = own
        traces.append(write_tables(place / str(number), held))
    return traces, spans


def found_in(
    scene: Scene, place: Path, seconds: Sequence[float], *conditions: When, back_ns: int = BACK
) -> list[list[Occurrence]]:
    traces, spans = cut(scene, place, [int(at * S) for at in seconds], back_ns)
    return watched(traces, spans, *conditions)


def told(windows: list[list[Occurrence]]) -> list[tuple[int, str, float]]:
    """Number of the window, subject, and when it was in ms."""
    return [
        (number, one.subject, (one.at_ns - BASE) / MS)
        for number, found in enumerate(windows)
        for one in found
    ]


def camera(times: Sequence[int]) -> Scene:
    """A topic that is published at some times, beside one that always is."""
    scene = Scene()
    scene.publisher("/image", node="/camera", pid=1)
    scene.publisher("/tick", node="/clock", pid=2)
    ticks = published("/tick", "2.2", every(50, 0, 12_000))
    return played(scene, [*published("/image", "1.1", times), *ticks])


def test_a_missing_publication_is_told_once(tmp_path: Path) -> None:
    scene = camera([*every(100, 0, 3_901), *every(100, 9_000, 10_000)])
    stall = when("period max > 150 ms", topic="/image")
    windows = found_in(scene, tmp_path, range(0, 13, 2), stall)
    overdue = pytest.approx(3_900 + 150, abs=1e-3)
    again = pytest.approx(9_900 + 150, abs=1e-3)
    assert told(windows) == [(2, "/image (/camera)", overdue), (5, "/image (/camera)", again)]
    text = windows[2][0].text
    assert text == "nothing was published on /image (/camera) for 2.10 s yet, more than 150 ms"


def test_a_publication_that_came_late_is_measured(tmp_path: Path) -> None:
    scene = camera([*every(100, 0, 3_000), *every(100, 3_200, 12_000)])
    windows = found_in(scene, tmp_path, range(0, 13, 2), when("period max >= 300 ms"))
    assert told(windows) == [(1, "/image (/camera)", 2_900 + 300)]
    text = "a publication on /image (/camera) was 300 ms after the one before, not less than 300 ms"
    assert windows[1][0].text == text
    (tmp_path / "more").mkdir()
    above = found_in(scene, tmp_path / "more", range(0, 13, 2), when("period max > 300 ms"))
    assert told(above) == []


def test_a_gap_over_the_edge_of_a_window_is_told_once(tmp_path: Path) -> None:
    for number, last in enumerate((3_800, 3_900, 4_000)):
        scene = camera([*every(100, 0, last + 1), *every(100, last + 400, 12_000)])
        windows = found_in(
            scene, tmp_path / str(number), range(0, 13, 2), when("period max > 100 ms")
        )
        due = pytest.approx(last + 100, abs=1e-3)
        # 4,000 ms is in the window that ends there; what is due a nanosecond later is not.
        assert told(windows) == [(1 if last < 3_900 else 2, "/image (/camera)", due)]


def test_what_is_published_once_only_is_not_missing(tmp_path: Path) -> None:
    scene = camera([500 * MS, 6_500 * MS])
    windows = found_in(scene, tmp_path, range(0, 13, 2), when("period max > 150 ms"))
    # The second one tells how far apart they are, which is worse than that no third one comes.
    assert told(windows) == [(3, "/image (/camera)", 6_500)]
    alone = camera([500 * MS])
    assert told(found_in(alone, tmp_path / "x", range(0, 13, 2), when("period max > 150 ms"))) == []


def test_other_statistics_of_periods(tmp_path: Path) -> None:
    scene = camera([*every(100, 0, 3_000), 2_905 * MS, *every(100, 3_000, 12_000)])
    conditions = [
        when("period min < 6 ms", topic="/image"),
        when("period mean > 90 ms", topic="/image"),
        when("period p50 >= 100 ms", topic="/image"),
    ]
    windows = found_in(scene, tmp_path, range(0, 13, 2), *conditions)
    assert [len(found) for found in windows] == [2, 3, 2, 2, 2, 2]
    assert windows[1][0].at_ns == BASE + 2_905 * MS
    assert "was 5.00 ms after the one before, less than 6 ms" in windows[1][0].text


def test_where_events_are_missing_no_period_is_told(tmp_path: Path) -> None:
    scene = camera([*every(100, 0, 3_000), *every(100, 3_400, 12_000)])
    bounds = [at * S for at in range(0, 13, 2)]
    traces, spans = cut(scene, tmp_path, bounds)
    for unseen, expected in ((0, 1), (500 * MS, 1), (1_000 * MS, 0), (1_200 * MS, 0)):
        watch, names = Watch([when("period max > 150 ms")]), KnownNames()
        count = 0
        for number, (trace, span) in enumerate(zip(traces, spans, strict=True)):
            window = Window(trace, *span, span, unseen_ns=unseen if number == 1 else 0)
            seen = see(window, names)
            assert seen is not None
            count += len(watch.look(seen, judge(seen)))
        assert count == expected


def test_events_that_were_missing_before_the_bound_passed(tmp_path: Path) -> None:
    """Nothing is published from 1.9 s on; of what happened until 2.5 s something is missing."""
    scene = camera(every(100, 0, 2_000))
    traces, spans = cut(scene, tmp_path, [at * S for at in range(0, 9, 2)])
    for unseen, expected in ((0, [2]), (500 * MS, [])):
        watch, names = Watch([when("period max > 3 s")]), KnownNames()
        hits = []
        for number, (trace, span) in enumerate(zip(traces, spans, strict=True)):
            window = Window(trace, *span, span, unseen_ns=unseen if number == 1 else 0)
            seen = see(window, names)
            assert seen is not None
            hits += [number] * len(watch.look(seen, judge(seen)))
        assert hits == expected


def test_what_is_overdue_at_the_edge_of_a_window_is_told_once(tmp_path: Path) -> None:
    scene = camera(every(100, 0, 1_901))
    # The first window ends at the nanosecond that is 100.001 ms after 1,900 ms.
    stall = when("period max >= 100.001 ms", topic="/image")
    windows = found_in(scene, tmp_path, (0, 2.000001, 4), stall)
    assert told(windows) == [(0, "/image (/camera)", pytest.approx(2_000.001, abs=1e-6))]


def test_a_publisher_that_was_destroyed_is_not_missing(tmp_path: Path) -> None:
    """Its address is another publisher's from 1.95 s on."""
    for reused in (False, True):
        scene = Scene()
        scene.publisher("/image", node="/camera", pid=1)
        last = scene.handle
        scene.clock = 1_950 * MS
        if reused:
            scene.handle = scene.entities["/image"]["handle"] - 1
        scene.publisher("/other", node="/camera", pid=1)
        scene.handle = last + 10
        lines = published("/image", "1.1", every(100, 0, 1_901))
        lines += published("/other", "1.1", every(100, 2_000, 6_000))
        place = tmp_path / str(reused)
        windows = found_in(played(scene, lines), place, (0, 3, 5), when("period max > 150 ms"))
        assert [one.subject for found in windows for one in found] == (
            [] if reused else ["/image (/camera)"]
        )


def test_publishers_that_are_remembered_are_bounded(tmp_path: Path) -> None:
    scene, lines = Scene(), []
    for number in range(5):
        scene.publisher(f"/t{number}", node=f"/n{number}", pid=1)
        lines += published(f"/t{number}", "1.1", [number * MS, (9 + number) * MS])
    traces, spans = cut(played(scene, lines), tmp_path, [0, S])
    seen = see(Window(traces[0], *spans[0], spans[0]), KnownNames())
    assert seen is not None
    publishers = Publishers(most=2)
    assert len(publishers.look(seen)) == 5
    assert [one.topic for one in publishers._last.values()] == ["/t3", "/t4"]


def chain(lines: list[tuple[int, str]], at_ns: int, took_ns: int, handler: str) -> None:
    """A message and its callback."""
    steps = (
        (0, f"1.1 rmw_publish /t {at_ns}"),
        (10_000, "2.2 ready"),
        (20_000, f"2.2 execute {handler}"),
        (30_000, f"2.2 rmw_take {handler} {at_ns}"),
        (40_000, f"2.2 callback_start {handler}"),
        (40_000 + took_ns, f"2.2 callback_end {handler}"),
        (50_000 + took_ns, "2.2 wait"),
    )
    lines += [(at_ns + after, f"{at_ns + after} {line}") for after, line in steps]


def relay() -> Scene:
    scene = Scene()
    scene.publisher("/t", node="/source", pid=1)
    scene.subscription("/t", node="/sink", pid=2, symbol="on_t")
    return scene


def test_a_callback_over_the_edge_of_a_window_is_told_when_it_ends(tmp_path: Path) -> None:
    """The first of its hop: in the first window there is no callback that ended."""
    lines: list[tuple[int, str]] = []
    chain(lines, 1_800 * MS, 600 * MS, "on_t")
    chain(lines, 3_000 * MS, 1 * MS, "on_t")
    texts = ("hop max > 0 ns", "chain max > 0 ns", "transfer max > 0 ns", "callback max > 500 ms")
    windows = found_in(played(relay(), lines), tmp_path, (0, 2, 4), *map(when, texts))
    assert [one.when.name for one in windows[0]] == ["transfer max > 0 ns"]
    assert [one.when.name for one in windows[1]] == list(texts)
    ends = [(one.at_ns - BASE) / MS for one in windows[1]]
    assert ends == [2_400.04, 2_400.04, 3_000.04, 2_400.04]


def test_a_reader_that_went_silent(tmp_path: Path) -> None:
    """With its process: no event tells of it any more."""
    lines: list[tuple[int, str]] = []
    for ns in every(100, 50, 4_000):
        chain(lines, ns, 1 * MS, "on_t")
    lines += published("/t", "1.1", every(100, 4_050, 80_000))
    windows = found_in(played(relay(), lines), tmp_path, range(0, 81, 2), when("loss > 0 %"))
    # The window from 4 to 6 s, which looks back at it, is the last that heard it.
    assert [number for number, _, _ in told(windows)] == list(range(2, 33))
    text = "hop /t (/source -> /sink) lost 20 of 20 messages (100 %: reader went silent), more than"
    assert {found[0].text for found in windows[3:33]} == {f"{text} 0 %"}
    assert windows[5][0].at_ns == BASE + 10_050 * MS


def test_a_silent_reader_of_which_a_window_knows_nothing(tmp_path: Path) -> None:
    """The init events of its process were forgotten: the hop is remembered."""
    lines: list[tuple[int, str]] = []
    for ns in every(100, 50, 2_000):
        chain(lines, ns, 1 * MS, "on_t")
    lines += published("/t", "1.1", every(100, 2_050, 4_000))
    scene = played(relay(), lines)
    watch = Watch([when("loss > 0 %")])
    for number, (since, until) in enumerate(((-1, 2), (2, 4))):
        held = {}
        for name, table in scene.tables().items():
            at_ns = table["timestamp"].to_numpy() - BASE
            own = (at_ns <= until * S) & ((number == 0) | (table["vpid"].to_numpy() == 1))
            held |= {name: table.filter(own)} if own.any() else {}
        span = (BASE + since * S, BASE + until * S)
        window = Window(write_tables(tmp_path / str(number), held), *span, span)
        seen = see(window, KnownNames())
        assert seen is not None
        found = watch.look(seen, judge(seen))
        assert [one.at_ns - BASE for one in found] == ([] if number == 0 else [2_050 * MS])


def test_hops_that_are_remembered_are_bounded(tmp_path: Path) -> None:
    lines: list[tuple[int, str]] = []
    scene = Scene()
    for number in range(4):
        scene.publisher(f"/t{number}", node="/source", pid=1)
        scene.subscription(f"/t{number}", node="/sink", pid=2, symbol=f"on_t{number}")
        took: list[tuple[int, str]] = []
        chain(took, (100 + 1_000 * number) * MS, MS, f"on_t{number}")
        lines += [(ns, line.replace(" /t ", f" /t{number} ")) for ns, line in took]
    readers = Readers(most=2)
    traces, spans = cut(played(scene, lines), tmp_path, [0, S, 2 * S, 3 * S, 4 * S], 0)
    names = KnownNames()
    for trace, span in zip(traces, spans, strict=True):
        seen = see(Window(trace, *span, span), names)
        assert seen is not None
        readers.look(seen, judge(seen))
    assert [hop[0] for hop in readers._heard_ns] == ["/t2", "/t3"]


def test_a_reader_that_is_not_there_yet_loses_nothing(tmp_path: Path) -> None:
    """It is found 5 s after it began; one that never takes anything is none either."""
    lines: list[tuple[int, str]] = []
    scene = relay()
    scene.subscription("/t", node="/never", pid=3, symbol="on_never")
    lines += published("/t", "1.1", every(100, 50, 5_000))
    for ns in every(100, 5_050, 8_000):
        chain(lines, ns, 1 * MS, "on_t")
    for ns in every(500, 0, 8_000):
        lines += [(ns, f"{ns} {thread} wait") for thread in ("2.3", "3.3")]
    windows = found_in(played(scene, lines), tmp_path, range(0, 9, 2), when("loss > 0 %"))
    assert told(windows) == []


def test_a_reader_that_ends_with_its_topic_is_not_silent(tmp_path: Path) -> None:
    lines: list[tuple[int, str]] = []
    for ns in every(100, 50, 4_000):
        chain(lines, ns, 1 * MS, "on_t")
    lines += [(ns, f"{ns} 2.3 wait") for ns in every(500, 4_000, 12_000)]
    windows = found_in(played(relay(), lines), tmp_path, range(0, 13, 2), when("loss > 0 %"))
    assert told(windows) == []


def test_a_timer_in_windows_that_do_not_have_its_begin(tmp_path: Path) -> None:
    scene = Scene()
    scene.timer(node="/control", pid=1, symbol="on_timer", period=10 * MS)
    due = [ns + 200_000 for ns in every(10, 0, 8_000)]
    due[523] += 6 * MS
    lines = []
    for ns in due[:650] + due[653:]:
        lines += [
            (ns - 30_000, f"{ns - 30_000} 1.1 ready"),
            (ns - 20_000, f"{ns - 20_000} 1.1 execute on_timer"),
            (ns, f"{ns} 1.1 callback_start on_timer"),
            (ns + MS, f"{ns + MS} 1.1 callback_end on_timer"),
            (ns + MS + 1, f"{ns + MS + 1} 1.1 wait"),
        ]
    conditions = [when("timer max > 5 ms"), when("timer skipped > 0")]
    windows = found_in(played(scene, lines), tmp_path, (0, 2, 4, 6, 8), *conditions)
    assert [[one.at_ns - BASE for one in found] for found in windows] == [
        [],
        [],
        [due[523]],
        [due[653], due[653]],
    ]
    assert windows[2][0].text.endswith("late, more than 5 ms")
    assert "skipped 3 periods, more than 0" in windows[3][1].text


def test_fires_that_begin_a_grid_are_not_late(tmp_path: Path) -> None:
    """The timer is reset: from then on it is due 5 ms earlier."""
    scene = Scene()
    scene.timer(node="/control", pid=1, symbol="on_timer", period=10 * MS)
    lines = []
    for number, due in enumerate(every(10, 0, 6_000)):
        ns = due + 200_000 - (5 * MS if number > 300 else 0)
        lines += [
            (ns - 20_000, f"{ns - 20_000} 1.1 execute on_timer"),
            (ns, f"{ns} 1.1 callback_start on_timer"),
            (ns + MS, f"{ns + MS} 1.1 callback_end on_timer"),
        ]
    condition = when("timer min < 0 ns")
    windows = found_in(played(scene, lines), tmp_path, (0, 2, 4, 6), condition)
    assert windows == [[], [], []]


def test_an_executor_that_waits_for_long_is_not_busy(tmp_path: Path) -> None:
    lines: list[tuple[int, str]] = []
    for ns in every(100, 0, 3_000):
        chain(lines, ns, 1 * MS, "on_t")
    for ns in every(100, 50, 9_000):
        lines += [(ns, f"{ns} 1.7 ready"), (ns + 1, f"{ns + 1} 1.7 wait")]
    condition = when("executor busy > 10 % for 1 s")
    windows = found_in(played(relay(), lines), tmp_path, range(0, 9, 2), condition)
    assert told(windows) == []


def test_executors_over_a_stretch(tmp_path: Path) -> None:
    """Busy from 3.2 s to 5.7 s: for two seconds from 5.2 s on."""
    lines: list[tuple[int, str]] = []
    for ns in every(100, 0, 3_200):
        chain(lines, ns, 1 * MS, "on_t")
    chain(lines, 3_200 * MS, 2_500 * MS, "on_t")
    for ns in every(100, 5_800, 9_000):
        chain(lines, ns, 1 * MS, "on_t")
    # Until when a callback runs that has no end is told by other events of its host.
    for ns in every(100, 50, 9_000):
        lines += [(ns, f"{ns} 1.7 ready"), (ns + 1, f"{ns + 1} 1.7 wait")]
    texts = ("executor busy > 99 % for 2 s", "executor busy >= 99 % for 3 s")
    windows = found_in(
        played(relay(), lines), tmp_path, (0, 5, 6, 7, 8), *map(when, texts), back_ns=3 * S
    )
    assert [one.when.name for one in windows[1]] == [texts[0]]
    found = windows[1][0]
    assert BASE + 5_200 * MS <= found.at_ns <= BASE + 5_701 * MS
    assert found.text == "the executor of /sink was busy for 100 % of 2 s, more than 99 %"
    assert windows[0] == windows[2] == windows[3] == []


def test_windows_of_no_time_for_anything(tmp_path: Path) -> None:
    lines: list[tuple[int, str]] = []
    chain(lines, 100 * MS, MS, "on_t")
    texts = (
        "chain max > 0 ns",
        "service max > 0 ns",
        "hold p50 > 0 ns",
        "timer max > 0 ns",
        "timer skipped > 0",
        "executor busy > 0 % for 1 s",
        "loss > 0 %",
        "event ros2:rmw_take",
    )
    windows = found_in(played(relay(), lines), tmp_path, (0, 0.05), *map(when, texts))
    assert windows == [[]]
