# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Logs of ptp4l and phc2sys: recorded ones, and lines as their sources print them."""

from __future__ import annotations

import re
from pathlib import Path

import pandas as pd
import pytest

from strata.errors import OriginalError
from strata.originals import Imported, read_original
from strata.originals.linuxptp import CLOCK_OFFSET

DATA = Path(__file__).parents[1] / "campaigns/data"
S = 10**9
MS = 10**6


def log(place: Path, *lines: str) -> Imported:
    path = place / "log.txt"
    path.write_text("".join(f"{line}\n" for line in lines))
    return read_original(path)


def samples(read: Imported, run: int = 0) -> pd.DataFrame:
    found = read.runs[run].samples
    assert set(found["measure"]) == {CLOCK_OFFSET}
    assert set(found["unit"]) == {"ns"}
    return found


def codes(read: Imported) -> dict[str, int]:
    return {finding.code: finding.count for finding in read.findings}


def test_a_recorded_log_gives_every_offset_with_its_time_and_state() -> None:
    path = DATA / "ptp4l-link-down.log"
    lines = re.findall(r"\[([0-9.]+)\]: master offset +(-?[0-9]+) s([0-3])", path.read_text())
    read = read_original(path)
    found = samples(read)
    assert read.form == "ptp4l" and len(lines) == len(found) == 126
    assert found["value"].tolist() == [float(offset) for _, offset, _ in lines]
    assert found["state"].tolist() == [int(state) for _, _, state in lines]
    assert found["t_ns"].tolist() == [int(at.replace(".", "")) * 1_000_000 for at, _, _ in lines]
    assert set(found["series"]) == {"ptp4l master"} and set(found["statistic"]) == {"each"}
    # The link that went down, when the clock was its own master, and one that seemed too fast.
    assert codes(read) == {"clock_faults": 3, "clock_is_master": 2, "clock_not_locked": 59}
    assert read.runs[0].facts["begun_monotonic_ns"] == 53_497_237_000_000


def test_a_recorded_summary_is_no_distribution() -> None:
    read = read_original(DATA / "ptp4l-summary.log")
    found = samples(read)
    assert set(found["statistic"]) == {"interval_rms", "interval_max_abs"}
    largest = found[found["statistic"] == "interval_max_abs"]
    assert (len(largest), largest["value"].iloc[0]) == (18, 989)
    # Its lines do not tell the servo's state.
    assert found["state"].isna().all() and codes(read) == {}


@pytest.mark.parametrize(
    ("line", "series", "value", "state"),
    [
        (
            "phc2sys[10.500]: CLOCK_REALTIME phc offset        -5 s2 freq     +12 delay    900",
            "phc2sys CLOCK_REALTIME phc",
            -5,
            2,
        ),
        ("phc2sys[10.500]: eth0 sys offset 37000000011 s1 freq -7", "phc2sys eth0 sys", None, 1),
        (
            "ptp4l[10.500]: [ptp4l.0.config] master offset -12 s3 freq +345 path delay 678",
            "ptp4l master",
            -12,
            3,
        ),
        (
            "2026-04-18T10:00:01+0200 host ptp4l[812]: [10.500] master offset 7 s2 freq +1 "
            "path delay 67",
            "ptp4l master",
            7,
            2,
        ),
        (
            "Apr 18 10:00:01 host ptp4l: [10.500] master offset 8 s0 freq +1 path delay 67",
            "ptp4l master",
            8,
            0,
        ),
        (
            "[10.5] host phc2sys[7]: [10.500] /dev/ptp1 sys offset 3 s2 freq +0 delay 5",
            "phc2sys /dev/ptp1 sys",
            3,
            2,
        ),
    ],
)
def test_lines_are_read_from_stdout_and_from_journals(
    tmp_path: Path, line: str, series: str, value: int | None, state: int
) -> None:
    (row,) = samples(log(tmp_path, line)).to_dict("records")
    assert (row["series"], row["state"], row["t_ns"]) == (series, state, 10_500_000_000)
    assert row["value"] == (37_000_000_011 if value is None else value)


def test_summaries_of_phc2sys_name_their_clock(tmp_path: Path) -> None:
    read = log(
        tmp_path,
        "phc2sys[3.000]: CLOCK_REALTIME rms   12 max   30 freq   -345 +/-  12 delay   678 +/-   3",
        "phc2sys[4.000]: CLOCK_REALTIME rms   13 max   31 freq   -345 +/-  12",
    )
    found = samples(read)
    assert read.form == "phc2sys" and set(found["series"]) == {"phc2sys CLOCK_REALTIME"}
    assert found[found["statistic"] == "interval_rms"]["value"].tolist() == [12, 13]
    assert found[found["statistic"] == "interval_max_abs"]["value"].tolist() == [30, 31]


def test_what_cannot_be_read_is_counted_and_the_rest_is_kept(tmp_path: Path) -> None:
    read = log(
        tmp_path,
        "-- Boot 0123 --",
        "ptp4l[1.000]: port 1: LISTENING to UNCALIBRATED on RS_SLAVE",
        "systemd[1]: Started something.",
        "ptp4l[2.000]: master offset 5 s1 freq +1 path delay 9",
        "ptp4l[3.000]: master offset 5x s2 freq +1 path delay 9",
        "ptp4l[4.000]: failed to step clock: Operation not permitted",
        "ptp4l[5.000]: master offset 6 s2 freq +1 path delay 9",
    )
    assert samples(read)["value"].tolist() == [5, 6]
    assert codes(read) == {
        "unreadable_lines": 2,
        "clock_faults": 1,
        "clock_steps": 1,
        "clock_not_locked": 1,
    }
    assert "line 3" in next(one.text for one in read.findings if one.code == "unreadable_lines")


def test_a_time_that_goes_back_is_another_boot_and_another_run(tmp_path: Path) -> None:
    line = "ptp4l[{}.000]: master offset {} s2 freq +1 path delay 9"
    read = log(tmp_path, line.format(900, 1), line.format(901, 2), line.format(5, 3))
    assert [samples(read, run)["value"].tolist() for run in (0, 1)] == [[1, 2], [3]]
    assert codes(read) == {"several_boots": 2}
    # Of the first one it is not known when it booted.
    assert ["boot_ns" in run.facts for run in read.runs] == [False, True]


def test_lines_of_two_programs_may_change_places(tmp_path: Path) -> None:
    read = log(
        tmp_path,
        "ptp4l[2.004]: master offset 5 s2 freq +1 path delay 9",
        "phc2sys[2.003]: CLOCK_REALTIME phc offset 7 s2 freq +1 delay 9",
        "phc2sys[3.003]: CLOCK_REALTIME phc offset 8 s2 freq +1 delay 9",
        "ptp4l[3.002]: master offset 6 s2 freq +1 path delay 9",
    )
    assert codes(read) == {} and len(read.runs) == 1
    facts = read.runs[0].facts
    assert (facts["begun_monotonic_ns"], facts["ended_monotonic_ns"]) == (2_003 * MS, 3_003 * MS)
    assert sorted(samples(read)["value"]) == [5, 6, 7, 8]


def test_a_master_has_no_offset_and_its_log_says_so(tmp_path: Path) -> None:
    become = "port 1 (eth0): LISTENING to MASTER on ANNOUNCE_RECEIPT_TIMEOUT_EXPIRES"
    lines = (
        "ptp4l[10.000]: port 1 (eth0): INITIALIZING to LISTENING on INIT_COMPLETE",
        f"ptp4l[17.000]: {become}",
        "ptp4l[17.001]: selected local clock 001122.fffe.334455 as best master",
        "ptp4l[17.002]: port 1 (eth0): assuming the grand master role",
    )
    read = log(tmp_path, *lines)
    assert read.form == "ptp4l" and codes(read) == {"clock_is_master": 2}
    assert [len(run.samples) for run in read.runs] == [0]
    # The master's card still follows, or leads, the system's clock.
    both = log(tmp_path, *lines, "phc2sys[18.000]: eth0 sys offset 7 s2 freq +1 delay 9")
    assert codes(both) == {"clock_is_master": 2}
    assert set(samples(both)["series"]) == {"phc2sys eth0 sys"}


def test_a_log_of_both_programs_has_both(tmp_path: Path) -> None:
    read = log(
        tmp_path,
        "phc2sys[1.000]: Waiting for ptp4l...",
        "ptp4l[2.000]: master offset 5 s2 freq +1 path delay 9",
        "phc2sys[3.000]: CLOCK_REALTIME phc offset 7 s2 freq +1 delay 9",
    )
    assert sorted(set(samples(read)["series"])) == ["phc2sys CLOCK_REALTIME phc", "ptp4l master"]


def test_a_log_without_an_offset_is_refused(tmp_path: Path) -> None:
    with pytest.raises(OriginalError, match="no line of ptp4l or phc2sys with an offset"):
        log(tmp_path, "ptp4l[1.000]: port 1: INITIALIZING to LISTENING on INIT_COMPLETE")


def test_the_wall_clock_of_the_last_line_dates_the_boot(tmp_path: Path) -> None:
    prefix = "2026-04-18T10:00:01+0000 host ptp4l[812]: [10.000] "
    read = log(tmp_path, prefix + "master offset 7 s2 freq +1 path delay 67")
    assert read.runs[0].facts["boot_ns"] == 1_776_506_401 * S - 10 * S
